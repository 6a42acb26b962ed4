/** A paged list of the API, loaded as the user scrolls. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { callApi, type Query } from './client.ts';

const PAGE_SIZE = 100;

export interface PagedList<Row> {
  /** undefined: still loading. */
  rows: Row[] | undefined;
  error: Error | null;
  /** Loads the next page, if there is one. */
  loadMore(): void;
  loadingMore: boolean;
  hasMore: boolean;
  pageCount: number;
  refetch(): void;
}

interface ListOptions<Row> {
  /** undefined: it belongs to no environment. */
  env?: string;
  /** The rows stay visible while the rows of another key are loaded. */
  keepsRows?: boolean;
  /** When to read it again. */
  pollMs?(rows: readonly Row[]): number;
}

/** @param key of the query: the resource, then what the list depends on */
export function useList<Row>(
  key: readonly unknown[],
  path: string,
  query: Query = {},
  { env, keepsRows, pollMs }: ListOptions<Row> = {},
): PagedList<Row> {
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = useInfiniteQuery({
    queryKey: [...key, 'list'],
    queryFn: ({ pageParam, signal }) =>
      callApi<Row[]>(path, {
        ...(env && { env }),
        signal,
        query: { limit: PAGE_SIZE, ...query, cursor: pageParam },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ metadata }) => metadata.cursor,
    ...(keepsRows && { placeholderData: keepPreviousData }),
    refetchInterval: ({ state }) => pollMs?.(state.data?.pages.flatMap((page) => page.data) ?? []) ?? false,
  });
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data]);
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const pageCount = data?.pages.length ?? 0;
  return { rows, error, loadMore, loadingMore: isFetchingNextPage, hasMore: hasNextPage, pageCount, refetch };
}
