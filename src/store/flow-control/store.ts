/** Flow control: what is counted, and what waits. */
import type { StoreContext } from '../store-context.ts';
import { Admissions } from './admissions.ts';

export interface FlowControlStore {
  admissions: Admissions;
}

/** A job that is lost for so long, in times of what a worker may be silent. */
const CHECKED_AFTER = 2;

export function createFlowControlStore({ redis, keys, config }: StoreContext): FlowControlStore {
  return { admissions: new Admissions(redis, keys, CHECKED_AFTER * config.stalledAfterMs) };
}
