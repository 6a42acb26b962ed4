/** Flow control: counts, waiting calls and events, and decisions. */
import type { StoreContext } from '../store-context.ts';
import { Admissions } from './admissions.ts';
import { Batches } from './batches.ts';
import { Debounces } from './debounces.ts';
import { Decisions } from './decisions.ts';
import { HeldFunctions } from './held-functions.ts';
import { IdempotencyClaims } from './idempotency-claims.ts';
import { Lanes } from './lanes.ts';
import { LimitUsage } from './limit-usage.ts';
import { RateLimitLogs } from './rate-limit-logs.ts';
import { SingletonHolders } from './singleton-holders.ts';

/** A permit is checked after this many worker timeouts, because its job may be lost. */
const CHECKED_AFTER = 2;

export function createFlowControlStore({ redis, keys, config }: StoreContext) {
  return {
    admissions: new Admissions(redis, keys, { checkMs: CHECKED_AFTER * config.stalledAfterMs }),
    batches: new Batches(redis, keys),
    debounces: new Debounces(redis, keys),
    decisions: new Decisions(redis, keys, { retentionMs: config.hotTtlMs }),
    heldFunctions: new HeldFunctions(redis, keys),
    lanes: new Lanes(redis, keys),
    limitUsage: new LimitUsage(redis, keys),
    rateLimitLogs: new RateLimitLogs(redis, keys),
    idempotencyClaims: new IdempotencyClaims(redis, keys),
    singletonHolders: new SingletonHolders(redis, keys),
  };
}
