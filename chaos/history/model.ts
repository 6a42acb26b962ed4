/** What the functions of the apps promise, as the properties take it. */
import {
  BATCHED,
  DEBOUNCED,
  functionIdOf,
  HELD,
  KEYED,
  LIMITED,
  ORDERED,
  RATE_LIMITED,
  SINGLETON,
  THROTTLED,
  TICKING,
  WAITING,
} from '../apps/limits.ts';
import type { Batches } from './properties/batches.ts';
import type { Expectations } from './properties/completion.ts';
import type { ConcurrencyLimit } from './properties/concurrency.ts';
import type { Debounce } from './properties/debounce.ts';
import type { OrderedFunction } from './properties/order.ts';
import type { RateLimit } from './properties/rate-limit.ts';
import type { RepeatTimes } from './properties/repeats.ts';
import type { Singleton } from './properties/singleton.ts';
import type { Throttle } from './properties/throttle.ts';
import type { Schedule } from './properties/ticks.ts';
import type { Wait } from './properties/waits.ts';

export interface Model {
  expectations: Expectations;
  repeats: RepeatTimes;
  concurrency: readonly ConcurrencyLimit[];
  throttles: readonly Throttle[];
  rateLimits: readonly RateLimit[];
  singletons: readonly Singleton[];
  ordered: readonly OrderedFunction[];
  debounces: readonly Debounce[];
  batches: readonly Batches[];
  /** IDs of functions that are paused, with their queued runs held. */
  held: readonly string[];
  waits: readonly Wait[];
  schedules: readonly Schedule[];
}

/** A call has its permit for so long at least, though its app was stopped. */
const CERTAIN_MS = 5_000;
/** When everything is down for longer, ticks are skipped. */
const TICKS_SKIPPED_AFTER_MS = 10_000;

const named = <Options extends { id: string }>({ id, ...options }: Options) => ({
  functionId: functionIdOf(id),
  ...options,
});

export function modelOf(expectations: Expectations, repeats: RepeatTimes): Model {
  return {
    expectations,
    repeats,
    concurrency: [LIMITED, KEYED, HELD].map((one) => ({ ...named(one), certainMs: CERTAIN_MS })),
    throttles: [named(THROTTLED)],
    rateLimits: [named(RATE_LIMITED)],
    singletons: [SINGLETON, ORDERED].map(named),
    ordered: [named(ORDERED)],
    debounces: [named(DEBOUNCED)],
    batches: [named(BATCHED)],
    held: [functionIdOf(HELD.id)],
    waits: [named(WAITING)],
    schedules: [{ ...named(TICKING), gapMs: TICKS_SKIPPED_AFTER_MS }],
  };
}
