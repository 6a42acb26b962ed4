import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { callApi, type Query } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { ListedRun } from '../../api/types.ts';
import { isExpression } from '../../lib/is-expression.ts';
import { stopOf } from '../../lib/stop.ts';
import { parseTime } from '../../lib/time-range.ts';
import { toListedRun } from './run.ts';
import type { KnownFunctions, RunFilters } from './run-filter.ts';
import type { RunPage } from './run-pages.ts';
import { statusQuery } from './status-filter.ts';
import { useLiveRuns } from './use-live-runs.ts';

export type { RunFilters };

const PAGE_SIZE = 100;
const NONE_KNOWN: KnownFunctions = { appOf: () => undefined };
export type RunPages = InfiniteData<RunPage, string | undefined>;

interface RunListOptions {
  pageSize?: number;
  enabled?: boolean;
  /** New runs are counted, not added, while the page is scrolled down. */
  keepsPosition?: boolean;
  /** For filters of functions. */
  known?: KnownFunctions;
}

/** Runs, newest first. `loadMore` appends older ones; live updates add new ones. */
export function useRuns(
  filters: RunFilters,
  { pageSize = PAGE_SIZE, enabled = true, keepsPosition = false, known = NONE_KNOWN }: RunListOptions = {},
) {
  const env = useEnv();
  const queries = useQueryClient();
  /** A live update does not tell whether a run meets a search. */
  const isLive = [filters.q, filters.error, filters.fingerprint].every((filter) => filter === undefined);
  const text = JSON.stringify([filters, pageSize]);
  const key = useMemo(() => ['runs', env, text], [env, text]);
  const read = useCallback(
    async (cursor?: string, signal?: AbortSignal): Promise<RunPage> => {
      const [parsedFilters, limit] = JSON.parse(text) as [RunFilters, number];
      const query = { ...queryOf(parsedFilters), fields: 'event', limit, cursor };
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
    // A refetch would load all pages; live updates keep the list current.
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
  const change = useCallback(
    (to: (pages: readonly RunPage[]) => RunPage[]) =>
      queries.setQueryData<RunPages>(key, (before) => before && withPages(before, to(before.pages))),
    [queries, key],
  );
  const pages = useCallback(() => queries.getQueryData<RunPages>(key)?.pages, [queries, key]);
  const live = useLiveRuns({ filters, isLive, keepsPosition, known, loaded: result.isSuccess, pages, change, read });

  const runs = useMemo(() => result.data?.pages.flatMap((page) => page.runs) ?? [], [result.data]);
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = result;
  // A page may be empty without being the last, so each page triggers the next check.
  // biome-ignore lint/correctness/useExhaustiveDependencies: depends on the loaded pages
  const goOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, hasNextPage, isFetchingNextPage, result.data]);
  /** If a page stopped early, the user decides whether to continue. */
  const stop = hasNextPage ? result.data?.pages.at(-1)?.stop : undefined;
  const loadMore = useCallback(() => {
    if (!stop) goOn();
  }, [stop, goOn]);
  useEffect(() => {
    if (runs.length === 0) loadMore();
  }, [runs.length, loadMore]);
  return { runs, stop, loadMore, goOn, result, ...live };
}

/** The filters as parameters of the API. */
export function queryOf({
  q,
  error,
  fingerprint,
  status,
  function: functionId,
  app,
  exclude,
  from,
  to,
}: RunFilters): Query {
  const nowMs = Date.now();
  const range = { queued_after: parseTime(from, nowMs), queued_before: parseTime(to, nowMs) };
  const search = q !== undefined && isExpression(q) ? q : undefined;
  return { search, error, fingerprint, ...statusQuery(status), function_id: functionId, app, exclude, ...range };
}

function withPages({ pageParams }: RunPages, pages: RunPage[]): RunPages {
  return { pages, pageParams: pageParams.slice(0, pages.length) };
}
