/** Flow control of a function: how many of its runs, which, and when. Keys and conditions are CEL over `event`; durations are strings
 *  such as `30s`, `2h`, `1d`. `flow-check.ts` checks the ranges. */

/** A limit of concurrent work. Functions share a limit of the scope `env` or `account` by its key. */
export type Concurrency =
  | {
      /** At least 1. */
      limit: number;
      /** A separate limit per value of this expression. */
      key?: string;
      scope?: 'fn';
    }
  | { limit: number; key: string; scope: 'env' | 'account' };

export type OneOrTwo<T> = T | readonly [T, T?];

/** `fn` limits runs, from their start to their end; `step` limits executing steps. */
export type ConcurrencyOfRunsAndSteps =
  | { fn: OneOrTwo<Concurrency>; step?: OneOrTwo<Concurrency> }
  | { fn?: OneOrTwo<Concurrency>; step: OneOrTwo<Concurrency> };

export interface CancelOn<Name extends string = string> {
  event: Name;
  /** `event` is the event that triggered the run, `async` the received event. */
  if?: string;
  /** Only within this time after the run's start. */
  timeout?: string;
}

export interface BatchEvents {
  /** At least 2; at most 100, unless the service allows more. */
  maxSize: number;
  /** From the first event of the batch: at least 1s; at most 60s, unless the service allows more. */
  timeout: string;
  /** A separate batch per value of this expression. */
  key?: string;
  /** An event that does not meet this condition runs alone. */
  if?: string;
}

/** The events of a key run one after another. */
export interface Order {
  /** A separate lane per value of this expression. */
  key: string;
  /** A number, a time or a version: events run in its order. Default: in the order in which they come. */
  by?: string;
  /** How long the first event of a lane waits for those before it: 0s to 1h. Default: 0s. */
  window?: string;
  /** What becomes of an event that is older than the last one that began. Default: run. */
  onStale?: 'run' | 'skip';
  /** When a run fails for good: the lane goes on (skip, the default), runs its event again until that succeeds, or waits for a person. */
  onFailure?: 'skip' | 'block' | 'park';
  /** Functions of the app with the same name share their lanes. */
  name?: string;
}

interface AlwaysPossible {
  /** Limits executing steps: a sleeping or waiting run holds nothing. With `fn`, limits whole runs. */
  concurrency?: number | OneOrTwo<Concurrency> | ConcurrencyOfRunsAndSteps;
  /** Limits run starts per period (1s to 7d); more runs wait. `burst` runs may start at once beside the first `limit`. */
  throttle?: { limit: number; period: string; burst?: number; key?: string };
  /** Cancels a run that has not started, or not finished, within this time. */
  timeouts?: { start?: string; finish?: string };
}

interface WithoutBatches<Name extends string> {
  batchEvents?: never;
  /** Limits run starts per period (1s to 24h); more runs are skipped. */
  rateLimit?: { limit: number; period: string; key?: string };
  /** Starts the run with the latest event when no event has come for this long (1s to 7d), at most `timeout` after the first. */
  debounce?: { period: string; key?: string; timeout?: string };
  /** `run`: seconds by which the run overtakes others, -600 to 600. */
  priority?: { run: string };
  /** One run at a time: a new one is skipped, or cancels the old one. */
  singleton?: { key?: string; mode: 'skip' | 'cancel' };
  /** The events of a key run one after another. Not together with `singleton`. */
  order?: Order;
  /** One run per value of this expression within 24 hours. */
  idempotency?: string;
  /** Up to five events that cancel a run. */
  cancelOn?: readonly CancelOn<Name>[];
}

interface WithBatches {
  /** Several events in one run, as `events`. */
  batchEvents: BatchEvents;
  rateLimit?: never;
  debounce?: never;
  priority?: never;
  singleton?: never;
  order?: never;
  idempotency?: never;
  cancelOn?: never;
}

export type FlowControl<Name extends string = string> = AlwaysPossible & (WithoutBatches<Name> | WithBatches);

const HANDED_THROUGH = [
  'throttle',
  'rateLimit',
  'debounce',
  'batchEvents',
  'priority',
  'singleton',
  'order',
  'idempotency',
  'timeouts',
] as const satisfies (keyof FlowControl)[];

export const FLOW_NAMES: readonly string[] = ['concurrency', 'cancelOn', ...HANDED_THROUGH];

/** The part of a function's registration that has its flow control. */
export function flowOnTheWire(flow: FlowControl): Record<string, unknown> {
  const { concurrency, cancelOn } = flow;
  const wire: Record<string, unknown> = {};
  for (const key of HANDED_THROUGH) if (flow[key] !== undefined) wire[key] = flow[key];
  if (concurrency !== undefined) wire.concurrency = concurrencyOnTheWire(concurrency);
  if (cancelOn) wire.cancel = cancelOn;
  return wire;
}

function concurrencyOnTheWire(given: NonNullable<FlowControl['concurrency']>) {
  if (typeof given === 'number') return given;
  if (!('fn' in given || 'step' in given)) return [given].flat();
  const { fn, step } = given;
  return { ...(fn && { fn: [fn].flat() }), ...(step && { step: [step].flat() }) };
}
