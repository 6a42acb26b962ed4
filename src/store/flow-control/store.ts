/** Flow control: what is counted, and what waits. */
import type { StoreContext } from '../store-context.ts';
import { IdempotencyClaims } from './idempotency-claims.ts';
import { RateLimitLogs } from './rate-limit-logs.ts';
import { SingletonHolders } from './singleton-holders.ts';

export interface FlowControlStore {
  rateLimitLogs: RateLimitLogs;
  idempotencyClaims: IdempotencyClaims;
  singletonHolders: SingletonHolders;
}

export function createFlowControlStore({ redis, keys }: StoreContext): FlowControlStore {
  return {
    rateLimitLogs: new RateLimitLogs(redis, keys),
    idempotencyClaims: new IdempotencyClaims(redis, keys),
    singletonHolders: new SingletonHolders(redis, keys),
  };
}
