/** The schedules of functions: each cron trigger of a function that can run. */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AppFunction, Trigger } from '../apps/app.ts';
import { durationMs } from '../values/time.ts';
import { lastTick, nextTick } from './ticks.ts';

export interface Schedule {
  env: string;
  functionId: string;
  /** The schedule as registered, including the time zone. */
  cron: string;
}

/** The schedules of a function. Archived and paused functions have none. Equal cron texts count once. */
export function schedulesOf(env: string, fn: AppFunction): Schedule[] {
  return isScheduled(fn) ? allSchedulesOf(env, fn) : [];
}

/** All schedules, even if the function is archived or paused. */
export function allSchedulesOf(env: string, { id: functionId, triggers }: AppFunction): Schedule[] {
  const texts = new Set(triggers.flatMap(({ cron }) => cron ?? []));
  return [...texts].map((cron) => ({ env, functionId, cron }));
}

/** The trigger of a schedule; undefined if it is not in force. */
export function scheduledTrigger(fn: AppFunction | undefined, cron: string): Trigger | undefined {
  return fn && isScheduled(fn) ? fn.triggers.find((trigger) => trigger.cron === cron) : undefined;
}

/** The first of the function's schedules that tick at a time: whichever timer fires first, the run is the same. undefined if the function has
 *  changed and no schedule ticks at this time. */
export function tickingTrigger({ triggers }: Pick<AppFunction, 'triggers'>, tick: number): Trigger | undefined {
  const scheduled = triggers.filter(({ cron }) => cron !== undefined);
  if (scheduled.length === 1) return scheduled[0];
  return scheduled.find(({ cron }) => lastTick(cron as string, tick) === tick);
}

/** When the trigger starts the next run, without jitter; undefined if it is not a schedule or not in force. */
export function nextRunAt(fn: AppFunction, { cron }: Trigger, nowMs: number): number | undefined {
  return cron !== undefined && isScheduled(fn) ? nextTick(cron, nowMs) : undefined;
}

function isScheduled({ archived, pausedAt }: AppFunction): boolean {
  return !archived && pausedAt === undefined;
}

/** Stable ID of a schedule. Without colons, which BullMQ reserves in IDs. */
export function scheduleId({ env, functionId, cron }: Schedule): string {
  return hash('sha256', JSON.stringify([env, functionId, cron]), 'buffer')
    .toString('base64url')
    .slice(0, 22);
}

/** Delay of a run after its tick: deterministic per run, from 0 to below the trigger's jitter. */
export function jitterMs(runId: string, { jitter }: Trigger): number {
  const most = jitter === undefined ? 0 : (durationMs(jitter) ?? 0);
  return most === 0 ? 0 : crc32(runId) % most;
}
