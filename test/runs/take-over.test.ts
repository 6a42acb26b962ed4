import { expect } from 'chai';
import { takeOverOf } from '../../src/workers/take-over.ts';

const WORKERS = 3;

/** @param diesAt time of the death, milliseconds; the job was taken at 0
 *  @param phases when each of the other workers looks for the first time
 *  @returns when the job is taken over, as BullMQ does it: at the second look that finds it active, and without a lock */
function takenOverAt(stalledAfterMs: number, diesAt: number, phases: readonly number[]): number {
  const { lockMs, renewMs, checkMs } = takeOverOf(stalledAfterMs);
  const lockedUntil = Math.floor(diesAt / renewMs) * renewMs + lockMs;
  const tries = phases
    .flatMap((phase) => Array.from({ length: 100 }, (_, n) => phase + n * checkMs))
    .sort((a, b) => a - b);
  let blockedUntil = 0;
  let isSuspect = false;
  for (const at of tries) {
    // Another worker has looked less than this long ago.
    if (at < blockedUntil) continue;
    blockedUntil = at + checkMs;
    if (isSuspect && at >= lockedUntil) return at;
    isSuspect = true;
  }
  throw new Error('never taken over');
}

describe('Taking over jobs', () => {
  for (const seconds of [30, 5, 1]) {
    it(`takes ${seconds} s with STALLED_AFTER_SECONDS=${seconds}, within a tenth, whenever the worker dies`, () => {
      const ms = seconds * 1_000;
      const { checkMs, longestMs } = takeOverOf(ms);
      expect(longestMs).to.be.at.most(1.1 * ms);
      for (let i = 0; i < 1_000; i++) {
        const diesAt = (i / 1_000) * ms;
        const phases = Array.from({ length: WORKERS }, (_, n) => ((i * (n + 1) * 0.37) % 1) * checkMs);
        const after = takenOverAt(ms, diesAt, phases) - diesAt;
        expect(after).to.be.within(0.9 * ms - 1, longestMs);
      }
    });
  }
});
