import { useEffect, useRef, useState } from 'react';
import { useLive } from '../../../api/live.ts';
import { type Filters, isListed } from '../filters.ts';
import type { RunNews } from './pages.ts';

/** The list is read anew no more often than this. */
const LOOK_EVERY_MS = 500;

interface Live {
  filters: Filters;
  /** Nothing new can come: the list ends in the past, or is of one ID. */
  ended: boolean;
  lookAtTop(): Promise<void>;
  noteRuns(runs: readonly RunNews[]): void;
}

/** New events come in at the top while the reader is there and has not paused them; otherwise they are counted.
 *  @returns how many wait, and what shows them */
export function useLiveEvents({ filters, ended, lookAtTop, noteRuns }: Live): { waiting: number; show(): void } {
  const [waiting, setWaiting] = useState(0);
  const timer = useRef<number>(undefined);
  /** New ones that the timer will take in. */
  const pending = useRef(0);
  const paused = filters.paused === true;

  const takeInNow = () => {
    pending.current = 0;
    setWaiting(0);
    // What fails now is made good by the next news.
    lookAtTop().catch(() => {});
  };
  const takeInSoon = (count: number) => {
    pending.current += count;
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      if (isAtTop()) return takeInNow();
      // The reader has gone on meanwhile, and nothing may move under their eyes.
      const missed = pending.current;
      pending.current = 0;
      setWaiting((before) => before + missed);
    }, LOOK_EVERY_MS);
  };
  const takeIn = (count: number) => {
    if (count === 0 || ended) return;
    if (paused || !isAtTop()) setWaiting((before) => before + count);
    else takeInSoon(count);
  };
  useLive('hello', () => {
    if (!paused && !ended && isAtTop()) takeInSoon(0);
  });
  useLive('events', ({ count, events }) => {
    const all = filters.name === undefined && filters.source === undefined;
    takeIn(all ? count : events.filter((event) => isListed(filters, event)).length);
  });
  useLive('runs', ({ runs }) => noteRuns(runs));

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins anew
  useEffect(() => {
    setWaiting(0);
    // A list that is shown again may have missed some.
    if (!paused && !ended) takeInSoon(0);
    return () => {
      window.clearTimeout(timer.current);
      timer.current = undefined;
      pending.current = 0;
    };
  }, [lookAtTop]);

  return {
    waiting,
    show() {
      window.scrollTo({ top: 0 });
      takeInNow();
    },
  };
}

const TOP_PX = 80;
const isAtTop = () => window.scrollY < TOP_PX;
