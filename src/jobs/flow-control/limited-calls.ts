/** Calls with the limits of their functions. */
import type { AppFunction } from '../../model/apps/app.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { CallLimits, Limit } from '../../model/flow-control/limits.ts';
import type { FlowOptions, FrozenKeys } from '../../model/flow-control/options.ts';
import type { BacklogInfo, CallToAdmit, StoredLimit } from '../../store/flow-control/admissions.ts';
import { type CallToSchedule, callRefOf, entryOf } from '../queues/call-ref.ts';

export interface LimitedCall {
  call: CallToSchedule;
  limits: CallLimits;
  info: BacklogInfo;
  score: number;
}

export function hasLimits(fn: AppFunction): boolean {
  if (fn.held || fn.cancelQueuedBefore !== undefined) return true;
  const options = flowOptionsOf(fn);
  if (!options) return false;
  const { runConcurrency, stepConcurrency, throttle, priority } = options;
  return runConcurrency.length + stepConcurrency.length > 0 || throttle !== undefined || priority !== undefined;
}

/** Whether the run has all keys that the options need. */
export function isComplete(
  { runConcurrency, stepConcurrency, throttle, priority }: FlowOptions,
  keys: FrozenKeys | undefined,
): boolean {
  const sources = [...runConcurrency, ...stepConcurrency, ...(throttle ? [throttle] : [])].flatMap(
    ({ key }) => key ?? [],
  );
  return (
    sources.every((source) => keys?.values[source] !== undefined) && (priority === undefined || keys !== undefined)
  );
}

export function toAdmit({ call, limits, info, score }: LimitedCall, executions: number): CallToAdmit {
  return { entry: entryOf(callRefOf(call)), executions, score, backlog: limits.backlog, info };
}

const KINDS = { run: 'r', step: 's', throttle: 't' } as const;

export function infoOf(env: string, functionId: string, limits: readonly Limit[], isStart: boolean): BacklogInfo {
  const values = limits.flatMap(({ source, key }) => (source === undefined ? [] : [[source, key] as const]));
  return {
    e: env,
    f: functionId,
    ...(isStart && { s: 1 }),
    ...(values.length > 0 && { v: Object.fromEntries(values) }),
    l: limits.map(toStored),
  };
}

function toStored({ id, kind, limit, intervalMs, toleranceMs }: Limit): StoredLimit {
  return intervalMs === undefined || toleranceMs === undefined
    ? [id, KINDS[kind], limit]
    : [id, KINDS[kind], limit, intervalMs, toleranceMs];
}
