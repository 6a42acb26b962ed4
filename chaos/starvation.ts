/** Detects CPU starvation: a worker without CPU time loses the locks of its jobs, as if it were stopped. An idle machine causes none. */
import { waitedForCpuMs } from '../test/support/waited-for-cpu.ts';
import type { Timeline } from './timeline.ts';

const EVERY_MS = 500;
/** A process is starved when it waits for a CPU for more than this share of the interval. */
const WAITED_SHARE = 0.5;

export interface WatchedProcess {
  name: string;
  pid: number;
}

/** @returns a function that stops watching */
export function watchStarvation(timeline: Timeline, watched: () => WatchedProcess[]): () => void {
  let lookedAt = timeline.nowMs;
  let before = new Map<number, number>();
  const timer = setInterval(() => {
    const nowMs = timeline.nowMs;
    const now = new Map(watched().map(({ pid }) => [pid, waitedForCpuMs(pid)]));
    const starved = watched().filter(({ pid }) => {
      const waited = (now.get(pid) ?? 0) - (before.get(pid) ?? Number.POSITIVE_INFINITY);
      return waited > WAITED_SHARE * (nowMs - lookedAt);
    });
    // A late timer means that this process starved too.
    if (starved.length > 0 || nowMs - lookedAt > 2 * EVERY_MS) timeline.starved(lookedAt, nowMs);
    before = now;
    lookedAt = nowMs;
  }, EVERY_MS);
  return () => clearInterval(timer);
}
