/** Notes when this machine gives the service no time: a worker that gets no CPU for longer than its jobs' locks last loses them, as if it had
 *  been stopped. On a machine with little else to do nothing is noted. */
import { readFileSync } from 'node:fs';
import type { Timeline } from './timeline.ts';

const EVERY_MS = 500;
/** Of which a process waited for a CPU more than this. */
const WAITED_SHARE = 0.5;

export interface Watched {
  name: string;
  pid: number;
}

/** @returns what ends the watch */
export function watchStarvation(timeline: Timeline, watched: () => Watched[]): () => void {
  let lookedAt = timeline.nowMs;
  let before = new Map<number, number>();
  const timer = setInterval(() => {
    const nowMs = timeline.nowMs;
    const now = new Map(watched().map(({ pid }) => [pid, waitedMs(pid)]));
    const starved = watched().filter(({ pid }) => {
      const waited = (now.get(pid) ?? 0) - (before.get(pid) ?? Number.POSITIVE_INFINITY);
      return waited > WAITED_SHARE * (nowMs - lookedAt);
    });
    // Late itself, this program has starved, too.
    if (starved.length > 0 || nowMs - lookedAt > 2 * EVERY_MS) timeline.starved(lookedAt, nowMs);
    before = now;
    lookedAt = nowMs;
  }, EVERY_MS);
  return () => clearInterval(timer);
}

/** How long the process's main thread has been ready to run and was not let; 0 where this is not Linux. */
function waitedMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
