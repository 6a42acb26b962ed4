/** Which ticks a timer stands for that comes late: the service was down, or its worker died. */
import { lastTick, nextTick } from './ticks.ts';

/** Ticks that are late by so much all run, also of a schedule with seconds: a restart takes some seconds. */
export const LATE_MS = 10_000;
/** A tick that a worker had begun with when it died runs when another takes it over, at most so late. */
const TAKEN_OVER_MS = 600_000;
/** Missed ticks that run, of a trigger that asks for all. */
export const CATCH_UP_MAX = 1_000;
const COUNTED_MAX = 1_000;

/** Ticks that start no run: all of the schedule from the first to the last. */
export interface SkippedTicks {
  first: number;
  last: number;
  /** undefined: more than 1,000. */
  count?: number;
}

export interface DueTicks {
  run: number[];
  skipped?: SkippedTicks;
}

export interface LateTimer {
  cron: string;
  /** Tick of the timer. */
  dueAt: number;
  nowMs: number;
  /** An earlier execution of the same timer did not end. */
  isRepeated: boolean;
  catchUp?: 'last' | 'all' | undefined;
}

/** From `dueAt` to now: all of them if that is not long ago or the trigger asks for it, otherwise only the last one, whose period is not over. */
export function ticksToRun({ cron, dueAt, nowMs, isRepeated, catchUp }: LateTimer): DueTicks {
  if (nowMs - dueAt <= LATE_MS) return { run: ticksFrom(cron, dueAt, nowMs, CATCH_UP_MAX) };
  const last = Math.max(dueAt, lastTick(cron, nowMs) ?? dueAt);
  if (catchUp === 'all') {
    const run = lastTicks(cron, dueAt, last, CATCH_UP_MAX);
    return withSkipped(run, cron, dueAt, run[0] as number);
  }
  const isTakenOver = isRepeated && last !== dueAt && nowMs - dueAt <= TAKEN_OVER_MS;
  return isTakenOver
    ? withSkipped([dueAt, last], cron, nextTick(cron, dueAt) ?? last, last)
    : withSkipped([last], cron, dueAt, last);
}

/** @param before the first tick after the skipped ones */
function withSkipped(run: number[], cron: string, first: number, before: number): DueTicks {
  if (first >= before) return { run };
  const last = Math.max(first, lastTick(cron, before - 1) ?? first);
  const counted = ticksFrom(cron, first, last, COUNTED_MAX + 1).length;
  return { run, skipped: { first, last, ...(counted <= COUNTED_MAX && { count: counted }) } };
}

/** From a tick to a time, the first ones. */
function ticksFrom(cron: string, first: number, untilMs: number, most: number): number[] {
  const ticks = [first];
  for (let next = nextTick(cron, first); next !== undefined && next <= untilMs; next = nextTick(cron, next)) {
    if (ticks.length === most) break;
    ticks.push(next);
  }
  return ticks;
}

/** From a tick to another, the last ones. */
function lastTicks(cron: string, first: number, last: number, most: number): number[] {
  const ticks: number[] = [];
  for (let at: number | undefined = last; at !== undefined && at >= first && ticks.length < most; ) {
    ticks.push(at);
    at = lastTick(cron, at - 1);
  }
  return ticks.reverse();
}
