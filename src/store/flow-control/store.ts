/** Flow control: what is counted, and what waits. */
import type { StoreContext } from '../store-context.ts';
import { Batches } from './batches.ts';
import { Debounces } from './debounces.ts';

export interface FlowControlStore {
  batches: Batches;
  debounces: Debounces;
}

export function createFlowControlStore({ redis, keys }: StoreContext): FlowControlStore {
  return { batches: new Batches(redis, keys), debounces: new Debounces(redis, keys) };
}
