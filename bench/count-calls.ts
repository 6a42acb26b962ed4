/** Counts the calls that the function host of a test bed receives. */
import { setTimeout } from 'node:timers/promises';
import type { Point } from './statistics.ts';
import type { TestBed } from './test-bed.ts';

export interface CountedCalls {
  perSecond: number;
  seconds: number;
  /** Total calls over time. */
  points: Point[];
}

/** Starts the work and waits for the given number of calls. */
export async function countCalls(testBed: TestBed, calls: number, set: () => unknown): Promise<CountedCalls> {
  await testBed.host();
  const startedAt = now();
  const going = Promise.resolve(set());
  // A rejection is thrown below; an unhandled one would end the process.
  going.catch(() => {});
  const points: Point[] = [];
  let [seen, lastAt] = [0, startedAt];
  while (seen < calls) {
    testBed.bench.signal.throwIfAborted();
    await setTimeout(50);
    const next = await testBed.host();
    seen += next.calls;
    lastAt = next.lastAt || lastAt;
    points.push([(now() - startedAt) / 1_000, seen]);
  }
  await going;
  const seconds = (lastAt - startedAt) / 1_000;
  return { perSecond: seen / seconds, seconds, points };
}

/** Milliseconds since the machine's start, the same in all processes, even if the clock of the day is set meanwhile. */
export function sinceBoot(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Unix milliseconds with a fraction. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
