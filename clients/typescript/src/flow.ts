/** Flow control of a function, sent to the service unchanged. Keys and conditions are CEL over `event`; durations are strings such
 *  as `30s`, `2h`, `1d`. */

export interface Concurrency {
  limit: number;
  /** A separate limit per value of this expression. */
  key?: string;
  scope?: 'fn' | 'env' | 'account';
}

export interface CancelOn<Name extends string = string> {
  event: Name;
  /** `event` is the event that triggered the run, `async` the received event. */
  if?: string;
  /** Only within this time after the run's start. */
  timeout?: string;
}

export interface FlowControl<Name extends string = string> {
  /** Limits concurrent steps. */
  concurrency?: number | Concurrency | readonly Concurrency[];
  /** Limits run starts per period; more runs wait. */
  throttle?: { limit: number; period: string; burst?: number; key?: string };
  /** Limits run starts per period; more runs are dropped. */
  rateLimit?: { limit: number; period: string; key?: string };
  /** Starts the run when no event has come for this long. */
  debounce?: { period: string; key?: string; timeout?: string };
  /** Several events in one run. */
  batchEvents?: { maxSize: number; timeout: string; key?: string };
  /** `run`: seconds by which the run overtakes others. */
  priority?: { run?: string };
  /** One run at a time: a new one is skipped, or cancels the old one. */
  singleton?: { key?: string; mode: 'skip' | 'cancel' };
  /** Events that cancel a run. */
  cancelOn?: readonly CancelOn<Name>[];
  /** One run per value of this expression within 24 hours. */
  idempotency?: string;
  /** Time limits of a run, until its start and from its start. */
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

/** Valid fields of each setting. */
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

/** Its part of a function's registration. */
export function flowOnTheWire(flow: FlowControl): Record<string, unknown> {
  const { concurrency, cancelOn } = flow;
  const wire: Record<string, unknown> = {};
  for (const key of HANDED_THROUGH) if (flow[key] !== undefined) wire[key] = flow[key];
  if (concurrency !== undefined)
    wire.concurrency = typeof concurrency === 'number' ? concurrency : [concurrency].flat();
  if (cancelOn) wire.cancel = cancelOn;
  return wire;
}
