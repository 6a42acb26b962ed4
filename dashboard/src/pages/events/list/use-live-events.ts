import { useEffect, useMemo, useRef, useState } from 'react';
import { useLiveUpdates } from '../../../api/live-updates.ts';
import { isAtTop } from '../../../lib/scroll.ts';
import { countUnseen, hasUnseen, mergeUnseen, NONE } from '../../../lib/unseen-rows.ts';
import { type Filters, matchesFilters, NOT_SYSTEM } from '../filters.ts';
import { type EventRow, type LiveEvent, MAX_LIVE_ROWS, type RunUpdate } from './event-pages.ts';

interface LiveEventsOptions {
  filters: Filters;
  /** No new event can match: the time range ends in the past, or the filter is an ID. */
  ended: boolean;
  rows: readonly EventRow[];
  /** The list is loaded. */
  loaded: boolean;
  refreshTop(): Promise<void>;
  updateRuns(runs: readonly RunUpdate[]): void;
  addLive(events: readonly LiveEvent[], runs: readonly RunUpdate[]): void;
}

/** Runs whose events are not listed yet. */
const MAX_RUNS = 1_000;

/** Adds new events at the top while the page is scrolled there and not paused; otherwise counts them.
 *  @returns the count, whether there may be more, and a function that shows them */
export function useLiveEvents(options: LiveEventsOptions): { unseen: number; more: boolean; show(): void } {
  const { filters, ended, rows, loaded, refreshTop, updateRuns, addLive } = options;
  const [unseen, setUnseen] = useState(NONE);
  const unseenNow = useRef(unseen);
  unseenNow.current = unseen;
  /** The message about the runs of an event may arrive before the message about the event. */
  const recentRuns = useRef<RunUpdate[]>([]);
  const missedWhileLoading = useRef(false);
  const paused = filters.paused === true;
  const mayAdd = () => !paused && !hasUnseen(unseenNow.current) && isAtTop();

  const showNow = () => {
    setUnseen(NONE);
    // The next update tries again.
    refreshTop().catch(() => {});
  };
  const reread = () => {
    if (ended || paused) return;
    if (isAtTop()) showNow();
    else setUnseen((before) => ({ ...before, more: true }));
  };
  useLiveUpdates('hello', () => {
    if (loaded) reread();
  });
  useLiveUpdates('events', ({ count, events }) => {
    if (ended) return;
    if (!loaded) {
      missedWhileLoading.current = true;
      return;
    }
    const matching = events.filter((event) => matchesFilters(filters, event));
    const dropped = count - events.length;
    const isUnfiltered = filters.name === undefined && (filters.source ?? NOT_SYSTEM) === NOT_SYSTEM;
    if (dropped === 0 && mayAdd() && rows.length < MAX_LIVE_ROWS) {
      if (matching.length > 0) addLive(matching, recentRuns.current);
      return;
    }
    const ids = matching.map(({ internal_id }) => internal_id);
    const missed = { ids, others: isUnfiltered ? dropped : 0, more: dropped > 0 && !isUnfiltered };
    if (hasUnseen(missed)) setUnseen((before) => mergeUnseen(before, missed));
    if (rows.length >= MAX_LIVE_ROWS && mayAdd()) showNow();
  });
  useLiveUpdates('runs', ({ runs }) => {
    recentRuns.current = [...recentRuns.current, ...runs].slice(-MAX_RUNS);
    updateRuns(runs);
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list; a cached one may have missed events
  useEffect(() => {
    setUnseen(NONE);
    missedWhileLoading.current = false;
    if (loaded && !paused && !ended) showNow();
  }, [refreshTop]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the list is there
  useEffect(() => {
    if (loaded && missedWhileLoading.current) reread();
    missedWhileLoading.current = false;
  }, [loaded]);

  const count = useMemo(() => {
    const listed = () => rows.map(({ internal_id }) => internal_id);
    return hasUnseen(unseen) ? countUnseen(listed(), unseen) : 0;
  }, [rows, unseen]);
  return {
    unseen: count,
    more: unseen.more,
    show() {
      window.scrollTo({ top: 0 });
      showNow();
    },
  };
}
