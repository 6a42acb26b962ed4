/** Reading the listed events, newest first: more at the end when the reader gets there, new ones at the top. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { callApi, type Query } from '../../../api/client.ts';
import type { ListedEvent } from '../../../api/types.ts';
import { applyRunUpdates, mergeFirstPage, type Page, type RunUpdate, toRow } from './event-pages.ts';

const PAGE_SIZE = 50;
/** More rows than these are not kept: whoever has come so far is told to narrow the list. */
export const MAX_ROWS = 100_000;

export function useEventRows(env: string, filters: Query) {
  const queries = useQueryClient();
  const key = useMemo(() => ['events', env, 'list', filters], [env, filters]);
  const list = useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<readonly Page[]> => [await fetchPage(env, filters, signal)],
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
  const pages = list.data;
  const rows = useMemo(() => pages?.flatMap((page) => page.rows) ?? [], [pages]);
  const change = useCallback(
    (to: (before: readonly Page[]) => readonly Page[]) =>
      void queries.setQueryData<readonly Page[]>(key, (before) => before && to(before)),
    [queries, key],
  );

  const lookAtTop = useSingleFlight(
    useCallback(async () => {
      const top = await fetchPage(env, filters);
      change((before) => mergeFirstPage(before, top));
    }, [env, filters, change]),
  );
  const noteRuns = useCallback(
    (runs: readonly RunUpdate[]) => change((before) => applyRunUpdates(before, runs)),
    [change],
  );

  const [problem, setProblem] = useState<Error>();
  /** Cursor of the page that is being read. */
  const [reading, setReading] = useState<string>();
  const next = pages?.at(-1)?.next;
  const full = rows.length >= MAX_ROWS;
  const readNext = useSingleFlight(
    useCallback(async () => {
      if (next === undefined) return;
      setProblem(undefined);
      const page = await fetchPage(env, { ...filters, cursor: next });
      change((before) => (before.at(-1)?.next === next ? [...before, page] : before));
    }, [env, filters, next, change]),
  );
  const readMore = useCallback(() => {
    if (next === undefined || full) return;
    setReading(next);
    const done = () => setReading((now) => (now === next ? undefined : now));
    void readNext().catch(setProblem).finally(done);
  }, [readNext, next, full]);
  // A page may hold nothing and yet not be the last: the service looks through so many events a page.
  useEffect(() => {
    if (rows.length === 0 && next !== undefined) readMore();
  }, [rows.length, next, readMore]);

  const more = next !== undefined && !full;
  const loadingMore = more && reading === next;
  return { list, rows, more, loadingMore, full, problem, readMore, lookAtTop, noteRuns };
}

async function fetchPage(env: string, filters: Query, signal?: AbortSignal): Promise<Page> {
  const { data, metadata } = await callApi<ListedEvent[]>('/v1/events', {
    env,
    query: { ...filters, include: 'runs', exclude: 'data', limit: PAGE_SIZE },
    ...(signal && { signal }),
  });
  return { rows: data.map(toRow), next: metadata.cursor };
}

/** The same work, but never twice at once: who asks meanwhile gets what is under way. */
function useSingleFlight(work: () => Promise<void>): () => Promise<void> {
  const underWay = useRef<{ work: () => Promise<void>; done: Promise<void> }>(null);
  return useCallback(() => {
    if (underWay.current?.work === work) return underWay.current.done;
    const mine = { work, done: work() };
    underWay.current = mine;
    const forget = () => {
      if (underWay.current === mine) underWay.current = null;
    };
    mine.done.then(forget, forget);
    return mine.done;
  }, [work]);
}
