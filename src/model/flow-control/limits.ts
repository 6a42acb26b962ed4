/** The limits under which a call of a function starts. Calls with the same limits form one backlog, first in, first out. */
import { hash } from 'node:crypto';
import type { AppFunction } from '../apps/app.ts';
import { BRANCHES } from '../environment.ts';
import { flowOptionsOf } from './function-options.ts';
import type { ConcurrencyLimit, FlowOptions, FrozenKeys } from './options.ts';

/** `run`: counts runs from their start to their end; `step`: counts calls in flight; `throttle`: counts starts of runs by time. */
export type LimitKind = 'run' | 'step' | 'throttle';

export interface Limit {
  id: string;
  kind: LimitKind;
  /** Runs or calls at the same time; of a throttle, starts in a period. */
  limit: number;
  scope: ConcurrencyLimit['scope'];
  /** Value of its key; the empty text: it has none. */
  key: string;
  /** The expression of its key. */
  source?: string;
  /** Not of its configuration: the function is paused, or its runs are served by priority. */
  implied?: 'capacity' | 'paused';
  /** For a throttle, milliseconds: the time between two starts, and how much earlier a start may be. */
  intervalMs?: number;
  toleranceMs?: number;
}

export interface CallLimits {
  limits: Limit[];
  /** Calls with the same one wait behind each other. */
  backlog: string;
  /** Decides the partition that the limits are in. */
  home: string;
}

/** Limits that functions share are in one place: a call takes all of its limits at once or none. */
const SHARED_HOME = 'shared limits';
const ID_LENGTH = 16;

export interface CallToLimit {
  env: string;
  /** Branches share limits of the scope `account` among each other alone: they hold nothing of production back. */
  isBranch: boolean;
  fn: AppFunction;
  keys: FrozenKeys | undefined;
  /** The first call of a run that has not started. */
  isStart: boolean;
  /** When the run was queued, Unix milliseconds; undefined: lately. */
  queuedAt?: number | undefined;
  /** Calls that all workers can make at the same time. */
  capacity: number;
}

/** undefined: the call starts at once. */
export function limitsOf(call: CallToLimit): CallLimits | undefined {
  const { env, fn, isStart, capacity } = call;
  const options = flowOptionsOf(fn);
  const limits = options ? limitsBy(options, call) : [];
  if (isStart && mayNotStart(fn, call.queuedAt)) limits.unshift(held(env, fn.id));
  // Runs are served in the order of their priority only where they wait: as many are in the queue as can be called.
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

/** All places in which limits of the function may be, also those of its earlier configurations. */
export function homesOf(env: string, functionId: string): string[] {
  return [`${env}/${functionId}`, SHARED_HOME];
}

/** Whether a run that has not started is held, or is being cancelled.
 *  @param queuedAt Unix milliseconds; undefined: lately */
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
  // Those of fewer calls first: they are the ones that most calls wait for.
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
  // Functions share a limit by the value of its key, however each of them gets it.
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

/** The limit of 0 of a held function. */
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
