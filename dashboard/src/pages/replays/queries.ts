import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Replay, ReplayResult } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { POLL_MS } from '../../ui/bulk-operations/operation.ts';

const IDLE_POLL_MS = 10_000;

/** Whether its numbers still change. */
export function isActive({ status, runs }: Replay): boolean {
  return status === 'running' || status === 'cancelling' || runs.active > 0;
}

export function useReplays() {
  const env = useEnv();
  const pollMs = (rows: readonly Replay[]) => (rows.some(isActive) ? POLL_MS : IDLE_POLL_MS);
  return useList<Replay>(['replays', env], '/v1/replays', {}, { env, pollMs });
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
  const key = ['replays', env, id, 'results', outcome];
  const list = useList<ReplayResult>(key, `/v1/replays/${id}/results`, { outcome }, { env });
  const { refetch, pageCount } = list;
  const active = isActive({ id, progress, runs, ...replay });
  const numbers = JSON.stringify([progress.started, progress.skipped, progress.failed_to_start, runs, active]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: refetches when the numbers change
  useEffect(() => {
    if (pageCount <= 1 || !active) void refetch();
  }, [numbers, refetch]);
  return { list, active };
}
