/** Decides which ticks a late timer makes up for, after the service was down or its worker died. */
import { lastTick, nextTick } from './ticks.ts';

/** Ticks up to this late all run, even with schedules by the second: a restart takes a few seconds. */
export const LATE_MS = 10_000;
/** Maximum delay of ticks that a dead worker may have begun with, when another worker takes them over. */
const TAKEN_OVER_MS = 600_000;
/** Maximum number of missed ticks that run for a trigger with `catchUp: 'all'`. */
const CATCH_UP_MAX = 1_000;
const COUNTED_MAX = 1_000;

/** Ticks without a run: all ticks of the schedule between the first and the last. */
export interface SkippedTicks {
  first: number;
  last: number;
  /** undefined if there are more than 1,000. */
  count?: number;
}

export interface DueTicks {
  run: number[];
  skipped?: SkippedTicks;
}

export interface LateTimer {
  cron: string;
  /** The tick that the timer was set for. */
  dueAt: number;
  nowMs: number;
  /** True if an earlier execution of the same timer did not finish. */
  isRepeated: boolean;
  catchUp?: 'last' | 'all' | undefined;
}

/** The ticks from `dueAt` to now: all ticks if `dueAt` is recent or the trigger asks for it, otherwise only the last tick, whose period is not
 *  over. */
export function ticksToRun({ cron, dueAt, nowMs, isRepeated, catchUp }: LateTimer): DueTicks {
  if (nowMs - dueAt <= LATE_MS) return { run: ticksFrom(cron, dueAt, nowMs, CATCH_UP_MAX) };
  const last = Math.max(dueAt, lastTick(cron, nowMs) ?? dueAt);
  if (catchUp === 'all') {
    const run = lastTicks(cron, dueAt, last, CATCH_UP_MAX);
    return withSkipped(run, cron, dueAt, run[0] as number);
  }
  // A dead worker that was not late itself may have begun with all of these.
  const isTakenOver = isRepeated && nowMs - dueAt <= TAKEN_OVER_MS;
  const begun = isTakenOver ? ticksFrom(cron, dueAt, dueAt + LATE_MS, CATCH_UP_MAX).filter((tick) => tick < last) : [];
  const end = begun.at(-1);
  return withSkipped([...begun, last], cron, end === undefined ? dueAt : (nextTick(cron, end) ?? last), last);
}

/** @param before the first tick that was not skipped */
function withSkipped(run: number[], cron: string, first: number, before: number): DueTicks {
  if (first >= before) return { run };
  const last = Math.max(first, lastTick(cron, before - 1) ?? first);
  const counted = ticksFrom(cron, first, last, COUNTED_MAX + 1).length;
  return { run, skipped: { first, last, ...(counted <= COUNTED_MAX && { count: counted }) } };
}

/** The first ticks from a tick up to a time. */
function ticksFrom(cron: string, first: number, untilMs: number, most: number): number[] {
  const ticks = [first];
  for (let next = nextTick(cron, first); next !== undefined && next <= untilMs; next = nextTick(cron, next)) {
    if (ticks.length === most) break;
    ticks.push(next);
  }
  return ticks;
}

/** The last ticks between two ticks. */
function lastTicks(cron: string, first: number, last: number, most: number): number[] {
  const ticks: number[] = [];
  for (let at: number | undefined = last; at !== undefined && at >= first && ticks.length < most; ) {
    ticks.push(at);
    at = lastTick(cron, at - 1);
  }
  return ticks.reverse();
}
