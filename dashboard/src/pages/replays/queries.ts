import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Replay, ReplayResult } from '../../api/types.ts';
import { POLL_MS } from '../../ui/bulk-operations/operation.ts';

const PAGE_SIZE = 100;
const IDLE_POLL_MS = 10_000;

/** Whether its numbers still change. */
export function isActive({ status, runs }: Replay): boolean {
  return status === 'running' || status === 'cancelling' || runs.active > 0;
}

export function useReplays() {
  const env = useEnv();
  const list = useInfiniteQuery({
    queryKey: ['replays', env, 'list'],
    queryFn: ({ pageParam, signal }) =>
      callApi<Replay[]>('/v1/replays', { env, signal, query: { limit: PAGE_SIZE, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ metadata }) => metadata.cursor,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(isActive)) ? POLL_MS : IDLE_POLL_MS,
  });
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
  return { ...list, rows };
}

export function useReplay(id: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['replays', env, id],
    queryFn: async ({ signal }) => (await callApi<Replay>(`/v1/replays/${id}`, { env, signal })).data,
    refetchInterval: ({ state }) => (state.data && isActive(state.data) ? POLL_MS : IDLE_POLL_MS),
  });
}

/** Read again while the numbers of the replay change. A refetch loads all pages, so a list of several is read again only at the end. */
export function useResults({ id, progress, runs, ...replay }: Replay, outcome: string | undefined) {
  const env = useEnv();
  const list = useInfiniteQuery({
    queryKey: ['replays', env, id, 'results', outcome],
    queryFn: ({ pageParam, signal }) =>
      callApi<ReplayResult[]>(`/v1/replays/${id}/results`, {
        env,
        signal,
        query: { outcome, limit: PAGE_SIZE, cursor: pageParam },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ metadata }) => metadata.cursor,
  });
  const { refetch, data } = list;
  const active = isActive({ id, progress, runs, ...replay });
  const numbers = JSON.stringify([progress.started, progress.skipped, progress.failed_to_start, runs, active]);
  const isLong = (data?.pages.length ?? 0) > 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: refetches when the numbers change
  useEffect(() => {
    if (!isLong || !active) void refetch();
  }, [numbers, refetch]);
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data]);
  return { ...list, rows, active };
}
