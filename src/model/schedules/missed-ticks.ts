/** Which ticks a timer stands for that comes late: the service was down, or its worker died. */
import { lastTick, nextTick } from './ticks.ts';

/** Ticks that are late by so much all run, also of a schedule with seconds: a restart takes some seconds. */
export const LATE_MS = 10_000;
/** A tick that a worker had begun with when it died runs when another takes it over, at most so late. */
const TAKEN_OVER_MS = 600_000;

/** From `dueAt` to now: all of them if that is not long ago, otherwise only the last one, whose period is not over.
 *  @param dueAt tick of the timer
 *  @param isRepeated an earlier execution of the same timer did not end */
export function ticksToRun(cron: string, dueAt: number, nowMs: number, isRepeated: boolean): number[] {
  if (nowMs - dueAt <= LATE_MS) {
    const ticks = [dueAt];
    for (let next = nextTick(cron, dueAt); next !== undefined && next <= nowMs; next = nextTick(cron, next)) {
      ticks.push(next);
    }
    return ticks;
  }
  const last = Math.max(dueAt, lastTick(cron, nowMs) ?? dueAt);
  const isTakenOver = isRepeated && last !== dueAt && nowMs - dueAt <= TAKEN_OVER_MS;
  return isTakenOver ? [dueAt, last] : [last];
}
