/** When and how often a function runs: handed through to the service as it is. Keys and conditions are CEL over `event`;
 *  lengths of time are such as `30s`, `2h`, `1d`. */

export interface Concurrency {
  limit: number;
  /** A limit for each value of this. */
  key?: string;
  scope?: 'fn' | 'env' | 'account';
}

export interface CancelOn<Name extends string = string> {
  event: Name;
  /** `event` is the one that triggered the run, `async` the one that arrives. */
  if?: string;
  /** Only within this time of the run's start. */
  timeout?: string;
}

export interface FlowControl<Name extends string = string> {
  /** Steps that run at the same time. */
  concurrency?: number | Concurrency | readonly Concurrency[];
  /** Runs started within a period; more of them wait. */
  throttle?: { limit: number; period: string; burst?: number; key?: string };
  /** Runs started within a period; more of them are dropped. */
  rateLimit?: { limit: number; period: string; key?: string };
  /** Runs once events have stopped coming for this long. */
  debounce?: { period: string; key?: string; timeout?: string };
  /** Several events in one run. */
  batchEvents?: { maxSize: number; timeout: string; key?: string };
  /** `run` gives seconds by which a run goes before others. */
  priority?: { run?: string };
  /** One run at a time: a new one is skipped, or cancels the old one. */
  singleton?: { key?: string; mode: 'skip' | 'cancel' };
  /** Events that cancel a run. */
  cancelOn?: readonly CancelOn<Name>[];
  /** One run for each value of this, in 24 hours. */
  idempotency?: string;
  /** How long a run may wait to start, and take from then. */
  timeouts?: { start?: string; finish?: string };
}

const HANDED_THROUGH = [
  'throttle',
  'rateLimit',
  'debounce',
  'batchEvents',
  'priority',
  'singleton',
  'idempotency',
  'timeouts',
] as const satisfies (keyof FlowControl)[];

/** What each setting that is an object may have. */
export const FLOW_FIELDS: Record<string, readonly string[]> = {
  concurrency: ['limit', 'key', 'scope'],
  throttle: ['limit', 'period', 'burst', 'key'],
  rateLimit: ['limit', 'period', 'key'],
  debounce: ['period', 'key', 'timeout'],
  batchEvents: ['maxSize', 'timeout', 'key'],
  priority: ['run'],
  singleton: ['key', 'mode'],
  cancelOn: ['event', 'if', 'timeout'],
  timeouts: ['start', 'finish'],
};

export const FLOW_NAMES: readonly string[] = ['concurrency', 'cancelOn', ...HANDED_THROUGH];

/** The part of a function's registration that says this. */
export function flowOnTheWire(flow: FlowControl): Record<string, unknown> {
  const { concurrency, cancelOn } = flow;
  const wire: Record<string, unknown> = {};
  for (const key of HANDED_THROUGH) if (flow[key] !== undefined) wire[key] = flow[key];
  if (concurrency !== undefined)
    wire.concurrency = typeof concurrency === 'number' ? concurrency : [concurrency].flat();
  if (cancelOn) wire.cancel = cancelOn;
  return wire;
}
