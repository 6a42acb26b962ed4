/** Loads the event list, newest first: older events as the user scrolls, new events at the top. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { callApi, type Query } from '../../../api/client.ts';
import type { ListedEvent } from '../../../api/types.ts';
import { stopOf } from '../../../lib/stop.ts';
import {
  addEvents,
  applyRunUpdates,
  type LiveEvent,
  mergeFirstPage,
  type Page,
  type RunUpdate,
  toRow,
} from './event-pages.ts';

const PAGE_SIZE = 50;
/** At this length the list asks for a narrower filter. */
export const MAX_ROWS = 100_000;

/** @param enabled false: something else is shown */
export function useEventRows(env: string, filters: Query, enabled = true) {
  const queries = useQueryClient();
  const key = useMemo(() => ['events', env, 'list', filters], [env, filters]);
  const list = useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<readonly Page[]> => [await fetchPage(env, filters, signal)],
    enabled,
    // A search of seconds is not repeated by itself.
    ...(filters.search !== undefined && { retry: false }),
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

  const refreshTop = useSharedCall(
    useCallback(async () => {
      const top = await fetchPage(env, filters);
      change((before) => mergeFirstPage(before, top));
    }, [env, filters, change]),
  );
  const updateRuns = useCallback(
    (runs: readonly RunUpdate[]) => change((before) => applyRunUpdates(before, runs)),
    [change],
  );

  const addLive = useCallback(
    (events: readonly LiveEvent[], runs: readonly RunUpdate[]) =>
      change((before) => applyRunUpdates(addEvents(before, events), runs)),
    [change],
  );

  const [error, setError] = useState<Error>();
  /** Cursor of the page that is loading. */
  const [loadingCursor, setLoadingCursor] = useState<string>();
  const { next, stop } = pages?.at(-1) ?? {};
  const full = rows.length >= MAX_ROWS;
  const loadNext = useSharedCall(
    useCallback(async () => {
      if (next === undefined) return;
      setError(undefined);
      const page = await fetchPage(env, { ...filters, cursor: next });
      change((before) => (before.at(-1)?.next === next ? [...before, page] : before));
    }, [env, filters, next, change]),
  );
  const goOn = useCallback(() => {
    if (next === undefined || full) return;
    setLoadingCursor(next);
    const done = () => setLoadingCursor((now) => (now === next ? undefined : now));
    void loadNext().catch(setError).finally(done);
  }, [loadNext, next, full]);
  /** If a page stopped early, the user decides whether to continue. */
  const loadMore = useCallback(() => {
    if (!stop) goOn();
  }, [stop, goOn]);
  // A page may be empty without being the last: the service scans a limited number of events per page.
  useEffect(() => {
    if (rows.length === 0 && next !== undefined) loadMore();
  }, [rows.length, next, loadMore]);

  const hasMore = next !== undefined && !full;
  const loadingMore = hasMore && loadingCursor === next;
  return { list, rows, hasMore, stop, loadingMore, full, error, loadMore, goOn, refreshTop, updateRuns, addLive };
}

async function fetchPage(env: string, filters: Query, signal?: AbortSignal): Promise<Page> {
  const { data, metadata } = await callApi<ListedEvent[]>('/v1/events', {
    env,
    query: { ...filters, include: 'runs,gist', exclude: 'data', limit: PAGE_SIZE },
    ...(signal && { signal }),
  });
  return { rows: data.map(toRow), next: metadata.cursor, stop: stopOf(metadata) };
}

/** A call during a running one gets its promise. */
function useSharedCall(work: () => Promise<void>): () => Promise<void> {
  const running = useRef<{ work: () => Promise<void>; done: Promise<void> }>(null);
  return useCallback(() => {
    if (running.current?.work === work) return running.current.done;
    const call = { work, done: work() };
    running.current = call;
    const clear = () => {
      if (running.current === call) running.current = null;
    };
    call.done.then(clear, clear);
    return call.done;
  }, [work]);
}
