/** Compares the schedules of a candidate with those of the app: their ticks in the same period. */
import type { AppFunction } from '../../model/apps/app.ts';
import { nextTick } from '../../model/schedules/ticks.ts';
import type { SchedulesOfFunction } from '../../model/what-if/what-if.ts';
import type { Turn } from './started-by.ts';

/** More than a week has minutes. */
const TICKS_MAX = 11_000;
const SHOWN = 5;

/** undefined: they are the same. Pauses are left out. */
export async function compareSchedules(
  present: AppFunction | undefined,
  candidate: AppFunction | undefined,
  { since, nowMs }: { since: number; nowMs: number },
  turn: Turn,
): Promise<SchedulesOfFunction | undefined> {
  const [before, after] = [cronsOf(present), cronsOf(candidate)];
  if (before.length === after.length && before.every((cron) => after.includes(cron))) return undefined;
  const ticks = async (crons: readonly string[]) => {
    const found = new Set<number>();
    for (const cron of crons) {
      let at = nextTick(cron, since);
      while (at !== undefined && at <= nowMs && found.size < TICKS_MAX && !turn.isOver) {
        found.add(at);
        at = nextTick(cron, at);
        await turn.yieldIfLong();
      }
    }
    return found;
  };
  const [now, then] = [await ticks(before), await ticks(after)];
  const shown = (some: Set<number>, others: Set<number>) => {
    const own = [...some].filter((at) => !others.has(at)).sort((a, b) => b - a);
    return { count: own.length, latest: own.slice(0, SHOWN) };
  };
  return {
    present: now.size,
    candidate: then.size,
    more: shown(then, now),
    fewer: shown(now, then),
    isCut: now.size >= TICKS_MAX || then.size >= TICKS_MAX || turn.isOver,
  };
}

function cronsOf(fn: AppFunction | undefined): string[] {
  return [...new Set(fn?.triggers.flatMap(({ cron }) => cron ?? []))];
}
