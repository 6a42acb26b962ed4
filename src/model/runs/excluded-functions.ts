/** Functions that lists of runs can leave out: runs that start by themselves would hide those that users look for. */
import type { AppFunction } from '../apps/app.ts';
import { isFailureHandler } from '../events/lifecycle.ts';

export const EXCLUDABLE = ['schedules', 'failure_handlers'] as const;
export type Excludable = (typeof EXCLUDABLE)[number];

/** More functions than these are not listed one by one: then nothing is left out. */
export const LISTED_FUNCTIONS_MAX = 200;

export function isExcluded({ triggers }: Pick<AppFunction, 'triggers'>, exclude: readonly Excludable[]): boolean {
  const isSchedule = triggers.length > 0 && triggers.every(({ cron }) => cron !== undefined);
  return (
    (exclude.includes('schedules') && isSchedule) ||
    (exclude.includes('failure_handlers') && isFailureHandler({ triggers }))
  );
}
