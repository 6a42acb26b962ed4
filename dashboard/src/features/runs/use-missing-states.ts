/** A live update tells the status of a run, and not what it waits for. Rows that are still active a moment later get their state from the API. */
import { useCallback, useEffect, useRef } from 'react';
import { hasEnded } from './run.ts';
import type { RunPage } from './run-pages.ts';

/** Most runs end sooner, and have no state to ask for. */
const DELAY_MS = 2_000;
/** Rows of the first page. */
const LOOKED_AT = 100;

/** @param read the first page, throttled
 *  @returns call it after each update */
export function useMissingStates(pages: () => readonly RunPage[] | undefined, read: () => void): () => void {
  const timer = useRef<number>(undefined);
  const latest = useRef({ pages, read });
  latest.current = { pages, read };
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return useCallback(() => {
    if (timer.current !== undefined) return;
    timer.current = window.setTimeout(() => {
      timer.current = undefined;
      const [first] = latest.current.pages() ?? [];
      if (first?.runs.slice(0, LOOKED_AT).some((run) => !hasEnded(run) && !run.state)) latest.current.read();
    }, DELAY_MS);
  }, []);
}
