/** Calls that the bare host of a stage receives, counted as they come. */
import { setTimeout } from 'node:timers/promises';
import type { Point } from './statistics.ts';
import type { Stage } from './test-bed.ts';

export interface Called {
  perSecond: number;
  seconds: number;
  /** Calls so far, over time. */
  points: Point[];
}

/** From when the work is set going to the last of so many calls. */
export async function called(stage: Stage, calls: number, set: () => unknown): Promise<Called> {
  await stage.host();
  const startedAt = now();
  const going = Promise.resolve(set());
  // A failure is thrown below; until then it shall not end the process.
  going.catch(() => {});
  const points: Point[] = [];
  let [seen, lastAt] = [0, startedAt];
  while (seen < calls) {
    stage.bench.signal.throwIfAborted();
    await setTimeout(50);
    const next = await stage.host();
    seen += next.calls;
    lastAt = next.lastAt || lastAt;
    points.push([(now() - startedAt) / 1_000, seen]);
  }
  await going;
  const seconds = (lastAt - startedAt) / 1_000;
  return { perSecond: seen / seconds, seconds, points };
}

/** Milliseconds since 1970, finely. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
