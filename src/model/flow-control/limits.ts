/** The limits that apply to a call of a function. Calls with the same limits form one backlog, first in, first out. */
import { hash } from 'node:crypto';
import type { AppFunction } from '../apps/app.ts';
import { BRANCHES } from '../environment.ts';
import { flowOptionsOf } from './function-options.ts';
import type { ConcurrencyLimit, FlowOptions, FrozenKeys } from './options.ts';

/** `run` counts runs from start to end; `step` counts calls in flight; `throttle` counts run starts per period. */
export type LimitKind = 'run' | 'step' | 'throttle';

export interface Limit {
  id: string;
  kind: LimitKind;
  /** Maximum number of concurrent runs or calls; for a throttle, starts per period. */
  limit: number;
  scope: ConcurrencyLimit['scope'];
  /** Value of the key; empty if the limit has no key. */
  key: string;
  /** Expression of the key. */
  source?: string;
  /** Set for limits that the function does not configure: it is paused, or its runs are served by priority. */
  implied?: 'capacity' | 'paused';
  /** For a throttle, milliseconds: the time between two starts, and how much earlier a start may be. */
  intervalMs?: number;
  toleranceMs?: number;
}

export interface CallLimits {
  limits: Limit[];
  /** Calls with the same backlog wait behind each other. */
  backlog: string;
  /** Determines the partition in which the limits are counted. */
  home: string;
}

/** Limits shared by functions are counted in one partition, because a call takes all of its limits at once or none. */
const SHARED_HOME = 'shared limits';
const ID_LENGTH = 16;

export interface CallToLimit {
  env: string;
  /** Branches share limits of the scope `account` only with each other, so they never delay production. */
  isBranch: boolean;
  fn: AppFunction;
  keys: FrozenKeys | undefined;
  /** Whether this is the first call of a run that has not started. */
  isStart: boolean;
  /** The time at which the run was queued, Unix milliseconds; undefined: recently. */
  queuedAt?: number | undefined;
  /** Calls that all workers together can have in flight. */
  capacity: number;
}

/** undefined if no limit applies and the call can start immediately. */
export function limitsOf(call: CallToLimit): CallLimits | undefined {
  const { env, fn, isStart, capacity } = call;
  const options = flowOptionsOf(fn);
  const limits = options ? limitsBy(options, call) : [];
  if (isStart && mayNotStart(fn, call.queuedAt)) limits.unshift(held(env, fn.id));
  // Priority orders only the runs in a backlog, so this limit keeps the queue as short as the workers' capacity.
  if (options?.priority !== undefined && limits.every(({ kind }) => kind === 'throttle')) {
    limits.push({ ...limitOf('step', { limit: capacity, scope: 'fn' }, call, 'priority'), implied: 'capacity' });
  }
  if (limits.length === 0) return undefined;
  const isShared = options !== undefined && sharesLimits(options);
  const ids = limits.map(({ id }) => id).join(' ');
  return {
    limits,
    backlog: `${env}:${digestOf(env, fn.id, isStart ? 'start' : 'call', ids)}`,
    home: isShared ? SHARED_HOME : `${env}/${fn.id}`,
  };
}

/** All homes in which the function's limits may be counted, including homes of earlier configurations. */
export function homesOf(env: string, functionId: string): string[] {
  return [`${env}/${functionId}`, SHARED_HOME];
}

/** Whether a run that has not started is held by a pause or is being cancelled.
 *  @param queuedAt Unix milliseconds; undefined: recently */
export function mayNotStart(
  { held, cancelQueuedBefore = Number.NEGATIVE_INFINITY }: AppFunction,
  queuedAt = Number.POSITIVE_INFINITY,
): boolean {
  return held === true || queuedAt <= cancelQueuedBefore;
}

function limitsBy({ runConcurrency, stepConcurrency, throttle }: FlowOptions, call: CallToLimit): Limit[] {
  const starts = call.isStart
    ? [...(throttle ? [throttleOf(throttle, call)] : []), ...concurrency('run', runConcurrency, call)]
    : [];
  // Smaller limits first, because most calls wait for them.
  return [...starts, ...concurrency('step', stepConcurrency, call)].sort((a, b) => a.limit - b.limit);
}

function concurrency(kind: 'run' | 'step', limits: readonly ConcurrencyLimit[], call: CallToLimit): Limit[] {
  return limits.map((limit) => limitOf(kind, limit, call));
}

function limitOf(
  kind: 'run' | 'step',
  { limit, scope, key: source }: ConcurrencyLimit,
  { env, isBranch, fn, keys }: CallToLimit,
  what = '',
): Limit {
  const key = source === undefined ? '' : (keys?.values[source] ?? '');
  // Functions share a limit by the value of its key, even if their expressions differ.
  const owner = { fn: [env, fn.id, source ?? '', what], env: [env], account: isBranch ? [BRANCHES] : [] }[scope];
  return { id: digestOf(kind, scope, ...owner, key), kind, limit, scope, key, ...(source !== undefined && { source }) };
}

function throttleOf(
  { limit, periodMs, burst, key: source }: NonNullable<FlowOptions['throttle']>,
  { env, fn, keys }: CallToLimit,
): Limit {
  const key = source === undefined ? '' : (keys?.values[source] ?? '');
  const intervalMs = periodMs / limit;
  const toleranceMs = intervalMs * (limit + burst - 1);
  const id = digestOf('throttle', env, fn.id, source ?? '', key);
  return {
    id,
    kind: 'throttle',
    limit,
    scope: 'fn',
    key,
    ...(source !== undefined && { source }),
    intervalMs,
    toleranceMs,
  };
}

/** ID of the zero limit that holds a paused function's runs. */
export function heldLimitId(env: string, functionId: string): string {
  return digestOf('held', env, functionId);
}

function held(env: string, functionId: string): Limit {
  return { id: heldLimitId(env, functionId), kind: 'run', limit: 0, scope: 'fn', key: '', implied: 'paused' };
}

function sharesLimits({ runConcurrency, stepConcurrency }: FlowOptions): boolean {
  return [...runConcurrency, ...stepConcurrency].some(({ scope }) => scope !== 'fn');
}

function digestOf(...parts: string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, ID_LENGTH);
}
