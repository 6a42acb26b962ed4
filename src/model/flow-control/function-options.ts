/** The flow control of a stored function. Functions that an earlier version registered are read the same way. */
import { BATCH_SIZE_HIGHEST, BATCH_TIMEOUT_HIGHEST_SECONDS } from '../../settings/quotas.ts';
import { expected } from '../values/expected.ts';
import { firstProblem } from '../values/issue-text.ts';
import { batchConflict } from './batch-conflict.ts';
import { concurrencyOf } from './concurrency-schema.ts';
import { flowSchemaOf, type GivenFlow } from './flow-schema.ts';
import { FLOW_FIELDS, sentOptions, withoutAbsent } from './given-options.ts';
import type { FlowOptions, Order } from './options.ts';

/** A function keeps the batch limits with which it was registered, even if settings have changed since. */
const schema = flowSchemaOf({
  batchSize: BATCH_SIZE_HIGHEST,
  batchTimeoutMs: BATCH_TIMEOUT_HIGHEST_SECONDS * 1_000,
});

interface Configured {
  config: Record<string, unknown>;
}

interface ReadFlow {
  options: FlowOptions | undefined;
  /** Empty except for functions that an earlier version of the service registered. */
  problems: string[];
}

const NONE: ReadFlow = { options: undefined, problems: [] };
const known = new WeakMap<Configured, ReadFlow>();

/** undefined if the function has none. Invalid options count as absent. */
export function flowOptionsOf(fn: Configured): FlowOptions | undefined {
  return read(fn).options;
}

/** Why options of the function count as absent, one sentence each. */
export function flowProblemsOf(fn: Configured): readonly string[] {
  return read(fn).problems;
}

function read(fn: Configured): ReadFlow {
  let found = known.get(fn);
  if (!found) {
    found = readFlow(fn.config);
    known.set(fn, found);
  }
  return found;
}

function readFlow(config: Record<string, unknown>): ReadFlow {
  const sent = sentOptions(config);
  const problems: string[] = [];
  const valid: Record<string, unknown> = {};
  for (const field of FLOW_FIELDS) {
    const value = withoutAbsent(sent[field], field);
    if (value === undefined) continue;
    const { success, data, error } = schema.shape[field].safeParse(value, { error: expected });
    if (success) valid[field] = data;
    else problems.push(ignored(field, firstProblem(error, sent, field)));
  }
  const conflict = batchConflict(valid, config);
  if (conflict) {
    problems.push(ignored('batchEvents', conflict));
    delete valid.batchEvents;
  }
  const options = Object.keys(valid).length === 0 ? undefined : toOptions(valid as GivenFlow);
  return options || problems.length > 0 ? { options, problems } : NONE;
}

function ignored(field: string, problem: string): string {
  return `${field} does not act until the app registers the function again: ${problem}`;
}

function toOptions(given: GivenFlow): FlowOptions {
  const { throttle, rateLimit, debounce, batchEvents, singleton, order, priority, idempotency, timeouts } = given;
  return {
    ...concurrencyOf(given.concurrency),
    ...(throttle && {
      throttle: { limit: throttle.limit, periodMs: throttle.period, burst: throttle.burst ?? 0, ...keyOf(throttle) },
    }),
    ...(rateLimit && { rateLimit: { limit: rateLimit.limit, periodMs: rateLimit.period, ...keyOf(rateLimit) } }),
    ...(debounce && {
      debounce: {
        periodMs: debounce.period,
        ...(debounce.timeout && { timeoutMs: debounce.timeout }),
        ...keyOf(debounce),
      },
    }),
    ...(batchEvents && {
      batch: {
        maxSize: batchEvents.maxSize,
        timeoutMs: batchEvents.timeout,
        ...keyOf(batchEvents),
        ...(batchEvents.if && { if: batchEvents.if }),
      },
    }),
    ...(singleton && { singleton: { mode: singleton.mode, ...keyOf(singleton) } }),
    ...(order && { order: orderOf(order) }),
    ...(priority?.run && { priority: priority.run }),
    ...(idempotency && { idempotency }),
    ...(timeouts && {
      timeouts: {
        ...(timeouts.start && { startMs: timeouts.start }),
        ...(timeouts.finish && { finishMs: timeouts.finish }),
      },
    }),
  };
}

/** Nothing is dropped, and nothing waits, unless the function says so. */
function orderOf({ name, key, by, window, onStale, onFailure }: NonNullable<GivenFlow['order']>): Order {
  return {
    ...(name && { name }),
    key,
    ...(by && { by }),
    windowMs: window ?? 0,
    onStale: onStale ?? 'run',
    onFailure: onFailure ?? 'skip',
  };
}

function keyOf({ key }: { key?: string | undefined }): { key?: string } {
  return key ? { key } : {};
}
