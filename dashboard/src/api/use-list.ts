/** A paged list of the API, loaded as the user scrolls. */
import { useInfiniteQuery } from '@tanstack/react-query';
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
  refetch(): void;
}

/** @param key of the query: the resource, then what the list depends on */
export function useList<Row>(key: readonly unknown[], path: string, query: Query = {}): PagedList<Row> {
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = useInfiniteQuery({
    queryKey: [...key, 'list'],
    queryFn: ({ pageParam, signal }) =>
      callApi<Row[]>(path, { signal, query: { ...query, limit: PAGE_SIZE, ...(pageParam && { cursor: pageParam }) } }),
    initialPageParam: '',
    getNextPageParam: ({ metadata }) => metadata.cursor,
  });
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data]);
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return { rows, error, loadMore, loadingMore: isFetchingNextPage, hasMore: hasNextPage, refetch };
}
