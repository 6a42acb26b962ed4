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
  const paused = filters.paused === true;

  const look = () => {
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      setWaiting(0);
      // What fails now is made good by the next news.
      lookAtTop().catch(() => {});
    }, LOOK_EVERY_MS);
  };
  const takeIn = (count: number) => {
    if (count === 0 || ended) return;
    if (paused || !isAtTop()) setWaiting((before) => before + count);
    else look();
  };
  useLive('hello', () => {
    if (!paused && !ended && isAtTop()) look();
  });
  useLive('events', ({ count, events }) => {
    const all = filters.name === undefined && filters.source === undefined;
    takeIn(all ? count : events.filter((event) => isListed(filters, event)).length);
  });
  useLive('runs', ({ runs }) => noteRuns(runs));

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list has other news
  useEffect(() => {
    setWaiting(0);
    return () => {
      window.clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [lookAtTop]);

  return {
    waiting,
    show() {
      window.scrollTo({ top: 0 });
      look();
    },
  };
}

const TOP_PX = 80;
const isAtTop = () => window.scrollY < TOP_PX;
