/** Flow control: what is counted, and what waits. */
import type { StoreContext } from '../store-context.ts';

// biome-ignore lint/suspicious/noEmptyInterface: filled by what follows
export interface FlowControlStore {}

export function createFlowControlStore(_: StoreContext): FlowControlStore {
  return {};
}
