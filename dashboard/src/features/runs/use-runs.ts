import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { callApi, type Query } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { useLiveUpdates } from '../../api/live-updates.ts';
import type { ListedRun } from '../../api/types.ts';
import { isExpression } from '../../lib/is-expression.ts';
import { stopOf } from '../../lib/stop.ts';
import { useThrottled } from '../../lib/use-throttled.ts';
import { toListedRun } from './run.ts';
import { applyStatuses, mergeFirstPage, type RunPage } from './run-pages.ts';
import { statusQuery } from './status-filter.ts';
import { parseTime } from './time-range.ts';

export interface RunFilters {
  /** An expression, or a text to look for. */
  q?: string | undefined;
  /** A text in the error. */
  error?: string | undefined;
  /** Of an error group. */
  fingerprint?: string | undefined;
  /** A status or a state (status-filter.ts). */
  status?: string | undefined;
  function?: string | undefined;
  app?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const PAGE_SIZE = 100;
type Pages = InfiniteData<RunPage, string | undefined>;

/** Runs, newest first. `loadMore` appends older ones; live updates add new ones. */
export function useRuns(filters: RunFilters, { pageSize = PAGE_SIZE, enabled = true } = {}) {
  const env = useEnv();
  const queries = useQueryClient();
  /** A live update does not tell whether a run meets a search. */
  const isLive = [filters.q, filters.error, filters.fingerprint].every((filter) => filter === undefined);
  const text = JSON.stringify([filters, pageSize]);
  const key = useMemo(() => ['runs', env, text], [env, text]);
  const read = useCallback(
    async (cursor?: string, signal?: AbortSignal): Promise<RunPage> => {
      const [parsedFilters, limit] = JSON.parse(text) as [RunFilters, number];
      const query = { ...queryOf(parsedFilters), limit, cursor };
      const { data, metadata } = await callApi<ListedRun[]>('/v1/runs', { env, query, ...(signal && { signal }) });
      return { runs: data.map(toListedRun), cursor: metadata.cursor, stop: stopOf(metadata) };
    },
    [env, text],
  );
  const result = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor,
    enabled,
    // A search of seconds is not repeated by itself.
    ...(!isLive && { retry: false }),
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
  const follow = useCallback(() => {
    if (isLive) refresh();
  }, [isLive, refresh]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: refreshes a cached list
  useEffect(follow, [follow, key]);
  useLiveUpdates('hello', follow);
  useLiveUpdates('runs', ({ runs }) => {
    const statuses = new Map(runs.map(({ run_id, status }) => [run_id, status as ListedRun['status']]));
    queries.setQueryData<Pages>(key, (before) => before && withPages(before, applyStatuses(before.pages, statuses)));
    follow();
  });

  const runs = useMemo(() => result.data?.pages.flatMap((page) => page.runs) ?? [], [result.data]);
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = result;
  // A page may be empty without being the last, so each page triggers the next check.
  // biome-ignore lint/correctness/useExhaustiveDependencies: depends on the loaded pages
  const goOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, hasNextPage, isFetchingNextPage, result.data]);
  /** Where a page stopped early, the user decides whether to go on. */
  const stop = hasNextPage ? result.data?.pages.at(-1)?.stop : undefined;
  const loadMore = useCallback(() => {
    if (!stop) goOn();
  }, [stop, goOn]);
  useEffect(() => {
    if (runs.length === 0) loadMore();
  }, [runs.length, loadMore]);
  return { runs, stop, loadMore, goOn, refresh, result };
}

/** The filters as parameters of the API. */
export function queryOf({ q, error, fingerprint, status, function: functionId, app, from, to }: RunFilters): Query {
  const nowMs = Date.now();
  const range = { queued_after: parseTime(from, nowMs), queued_before: parseTime(to, nowMs) };
  const search = q !== undefined && isExpression(q) ? q : undefined;
  return { search, error, fingerprint, ...statusQuery(status), function_id: functionId, app, ...range };
}

function withPages({ pageParams }: Pages, pages: RunPage[]): Pages {
  return { pages, pageParams: pageParams.slice(0, pages.length) };
}
