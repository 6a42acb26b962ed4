import { useEffect, useMemo, useRef, useState } from 'react';
import { useLiveUpdates } from '../../../api/live-updates.ts';
import { type Filters, matchesFilters } from '../filters.ts';
import type { EventRow, RunUpdate } from './event-pages.ts';
import { countUnseen, mergeUnseen, NONE, type UnseenEvents } from './unseen-events.ts';

/** The list is read anew no more often than this. */
const REFRESH_MS = 500;

interface LiveEventsOptions {
  filters: Filters;
  /** Nothing new can come: the list ends in the past, or is of one ID. */
  ended: boolean;
  /** Those that are listed, which do not wait. */
  rows: readonly EventRow[];
  lookAtTop(): Promise<void>;
  noteRuns(runs: readonly RunUpdate[]): void;
}

/** New events come in at the top while the reader is there and has not paused them; otherwise they are counted.
 *  @returns how many wait, and what shows them */
export function useLiveEvents({ filters, ended, rows, lookAtTop, noteRuns }: LiveEventsOptions): {
  waiting: number;
  show(): void;
} {
  const [waiting, setWaiting] = useState(NONE);
  const timer = useRef<number>(undefined);
  /** New ones that the timer will take in. */
  const pending = useRef(NONE);
  const paused = filters.paused === true;
  /** For the timer, which may have been set before the reader paused them. */
  const pausedNow = useRef(paused);
  useEffect(() => {
    pausedNow.current = paused;
  });

  const takeInNow = () => {
    pending.current = NONE;
    setWaiting(NONE);
    // What fails now is made good by the next news.
    lookAtTop().catch(() => {});
  };
  const takeInSoon = (news: UnseenEvents) => {
    pending.current = mergeUnseen(pending.current, news);
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      if (!pausedNow.current && isAtTop()) return takeInNow();
      // The reader has paused them or gone on meanwhile, and nothing may move under their eyes.
      const missed = pending.current;
      pending.current = NONE;
      setWaiting((before) => mergeUnseen(before, missed));
    }, REFRESH_MS);
  };
  const takeIn = (news: UnseenEvents) => {
    if (ended || (news.ids.length === 0 && news.others === 0)) return;
    if (paused || !isAtTop()) setWaiting((before) => mergeUnseen(before, news));
    else takeInSoon(news);
  };
  useLiveUpdates('hello', () => {
    if (!paused && !ended && isAtTop()) takeInSoon(NONE);
  });
  useLiveUpdates('events', ({ count, events }) => {
    const all = filters.name === undefined && filters.source === undefined;
    const ids = events.filter((event) => matchesFilters(filters, event)).map(({ internal_id }) => internal_id);
    takeIn({ ids, others: all ? count - events.length : 0 });
  });
  useLiveUpdates('runs', ({ runs }) => noteRuns(runs));

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins anew
  useEffect(() => {
    setWaiting(NONE);
    // A list that is shown again may have missed some.
    if (!paused && !ended) takeInSoon(NONE);
    return () => {
      window.clearTimeout(timer.current);
      timer.current = undefined;
      pending.current = NONE;
    };
  }, [lookAtTop]);

  return {
    waiting: useMemo(() => countUnseen(rows, waiting), [rows, waiting]),
    show() {
      window.scrollTo({ top: 0 });
      takeInNow();
    },
  };
}

const TOP_PX = 80;
const isAtTop = () => window.scrollY < TOP_PX;
