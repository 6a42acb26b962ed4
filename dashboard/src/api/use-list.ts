/** A list of the API that is read page by page, as the reader comes near its end. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { callApi, type Query } from './client.ts';

const PAGE_SIZE = 100;

export interface PagedList<Row> {
  /** undefined: not yet known. */
  rows: Row[] | undefined;
  error: Error | null;
  /** Asks for the next page, if there is one. */
  loadMore(): void;
  loadingMore: boolean;
  hasMore: boolean;
  refetch(): void;
}

/** @param key of the query: the thing's name, then what the list depends on */
export function useList<Row>(key: readonly unknown[], path: string, query: Query = {}): PagedList<Row> {
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = useInfiniteQuery({
    queryKey: [...key, 'list'],
    queryFn: ({ pageParam, signal }) =>
      callApi<Row[]>(path, { signal, query: { ...query, limit: PAGE_SIZE, ...(pageParam && { cursor: pageParam }) } }),
    initialPageParam: '',
    getNextPageParam: ({ metadata }) => metadata.cursor,
  });
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const again = useCallback(() => void refetch(), [refetch]);
  return { rows, error, loadMore: more, loadingMore: isFetchingNextPage, hasMore: hasNextPage, refetch: again };
}
