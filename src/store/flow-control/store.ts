/** Flow control: what is counted, what waits, and what was decided. */
import type { StoreContext } from '../store-context.ts';
import { Decisions } from './decisions.ts';

export interface FlowControlStore {
  decisions: Decisions;
}

export function createFlowControlStore({ redis, keys, config }: StoreContext): FlowControlStore {
  return { decisions: new Decisions(redis, keys, config.retentionMs) };
}
