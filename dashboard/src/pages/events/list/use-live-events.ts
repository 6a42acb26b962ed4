import { useEffect, useMemo, useRef, useState } from 'react';
import { useLiveUpdates } from '../../../api/live-updates.ts';
import { type Filters, matchesFilters } from '../filters.ts';
import type { EventRow, RunUpdate } from './event-pages.ts';
import { countUnseen, mergeUnseen, NONE, type UnseenEvents } from './unseen-events.ts';

/** Minimum time between two refreshes of the list. */
const REFRESH_MS = 500;

interface LiveEventsOptions {
  filters: Filters;
  /** No new event can match: the time range ends in the past, or the filter is an ID. */
  ended: boolean;
  rows: readonly EventRow[];
  refreshTop(): Promise<void>;
  updateRuns(runs: readonly RunUpdate[]): void;
}

/** Adds new events at the top while the page is scrolled there and not paused; otherwise counts them.
 *  @returns the count, and a function that shows them */
export function useLiveEvents({ filters, ended, rows, refreshTop, updateRuns }: LiveEventsOptions): {
  unseen: number;
  show(): void;
} {
  const [unseen, setUnseen] = useState(NONE);
  const timer = useRef<number>(undefined);
  /** New events that the timer will show. */
  const pending = useRef(NONE);
  const paused = filters.paused === true;
  /** For the timer, which may have started before the pause. */
  const pausedNow = useRef(paused);
  useEffect(() => {
    pausedNow.current = paused;
  });

  const showNow = () => {
    pending.current = NONE;
    setUnseen(NONE);
    // The next update tries again.
    refreshTop().catch(() => {});
  };
  const showSoon = (events: UnseenEvents) => {
    pending.current = mergeUnseen(pending.current, events);
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      if (!pausedNow.current && isAtTop()) return showNow();
      // Paused or scrolled since: the visible rows must not move.
      const missed = pending.current;
      pending.current = NONE;
      setUnseen((before) => mergeUnseen(before, missed));
    }, REFRESH_MS);
  };
  const addEvents = (events: UnseenEvents) => {
    if (ended || (events.ids.length === 0 && events.others === 0)) return;
    if (paused || !isAtTop()) setUnseen((before) => mergeUnseen(before, events));
    else showSoon(events);
  };
  useLiveUpdates('hello', () => {
    if (!paused && !ended && isAtTop()) showSoon(NONE);
  });
  useLiveUpdates('events', ({ count, events }) => {
    const all = filters.name === undefined && filters.source === undefined;
    const ids = events.filter((event) => matchesFilters(filters, event)).map(({ internal_id }) => internal_id);
    addEvents({ ids, others: all ? count - events.length : 0 });
  });
  useLiveUpdates('runs', ({ runs }) => updateRuns(runs));

  // biome-ignore lint/correctness/useExhaustiveDependencies: resets for another list
  useEffect(() => {
    setUnseen(NONE);
    // A cached list may have missed events.
    if (!paused && !ended) showSoon(NONE);
    return () => {
      window.clearTimeout(timer.current);
      timer.current = undefined;
      pending.current = NONE;
    };
  }, [refreshTop]);

  return {
    unseen: useMemo(() => countUnseen(rows, unseen), [rows, unseen]),
    show() {
      window.scrollTo({ top: 0 });
      showNow();
    },
  };
}

const TOP_PX = 80;
const isAtTop = () => window.scrollY < TOP_PX;
