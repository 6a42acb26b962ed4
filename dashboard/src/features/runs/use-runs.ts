import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { callApi, type Query } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { useLiveUpdates } from '../../api/live-updates.ts';
import type { ListedRun } from '../../api/types.ts';
import { useThrottled } from '../../lib/use-throttled.ts';
import { toListedRun } from './run.ts';
import { applyStatuses, mergeFirstPage, type RunPage } from './run-pages.ts';
import { parseTime } from './time-range.ts';

export interface RunFilters {
  status?: string | undefined;
  function?: string | undefined;
  app?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const PAGE_SIZE = 100;
type Pages = InfiniteData<RunPage, string | undefined>;

/** Runs, newest first. `loadMore` appends older ones; live updates add new ones. */
export function useRuns(filters: RunFilters, pageSize = PAGE_SIZE) {
  const env = useEnv();
  const queries = useQueryClient();
  const text = JSON.stringify([filters, pageSize]);
  const key = useMemo(() => ['runs', env, text], [env, text]);
  const read = useCallback(
    async (cursor?: string, signal?: AbortSignal): Promise<RunPage> => {
      const [parsedFilters, limit] = JSON.parse(text) as [RunFilters, number];
      const query = { ...queryOf(parsedFilters), limit, cursor };
      const { data, metadata } = await callApi<ListedRun[]>('/v1/runs', { env, query, ...(signal && { signal }) });
      return { runs: data.map(toListedRun), cursor: metadata.cursor };
    },
    [env, text],
  );
  const result = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor,
    // A refetch would load all pages; `refresh` loads only the first.
    staleTime: Number.POSITIVE_INFINITY,
  });

  const refresh = useThrottled(
    useCallback(async () => {
      if (!queries.getQueryData(key)) return;
      const first = await read();
      queries.setQueryData<Pages>(key, (before) => before && withPages(before, mergeFirstPage(before.pages, first)));
    }, [queries, key, read]),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: refreshes a cached list
  useEffect(refresh, [refresh, key]);
  useLiveUpdates('hello', refresh);
  useLiveUpdates('runs', ({ runs }) => {
    const statuses = new Map(runs.map(({ run_id, status }) => [run_id, status as ListedRun['status']]));
    queries.setQueryData<Pages>(key, (before) => before && withPages(before, applyStatuses(before.pages, statuses)));
    refresh();
  });

  const runs = useMemo(() => result.data?.pages.flatMap((page) => page.runs) ?? [], [result.data]);
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = result;
  // A page may be empty without being the last, so each page triggers the next check.
  // biome-ignore lint/correctness/useExhaustiveDependencies: depends on the loaded pages
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, hasNextPage, isFetchingNextPage, result.data]);
  useEffect(() => {
    if (runs.length === 0) loadMore();
  }, [runs.length, loadMore]);
  return { runs, loadMore, refresh, result };
}

function queryOf({ status, function: functionId, app, from, to }: RunFilters): Query {
  const nowMs = Date.now();
  const range = { queued_after: parseTime(from, nowMs), queued_before: parseTime(to, nowMs) };
  return { status, function_id: functionId, app, ...range };
}

function withPages({ pageParams }: Pages, pages: RunPage[]): Pages {
  return { pages, pageParams: pageParams.slice(0, pages.length) };
}
