/** What a finished step leaves behind, by which a function is replayed (docs/protocol.md#memos), and how much of it there may be. */
import type { RunError } from './run.ts';

/** A finished step's; a sleep's is null; a wait's is the event, or null on time-out. */
export type Memo = { data: unknown } | { error: RunError & { data?: unknown } } | Record<string, unknown> | null;

/** Finished ones, and those that have begun. */
export const MAX_STEPS = 1_000;
export const MAX_STEP_BYTES = 4 * 1_024 * 1_024;
export const MAX_STATE_BYTES = 32 * 1_024 * 1_024;

/** Calls whose body would be larger leave events and memos out; the app fetches them (docs/protocol.md#large-calls). */
export const MAX_CALL_BYTES = 4 * 1_024 * 1_024;

/** A step that has begun and is not finished: planned to be called, asleep, waiting, or another run's. */
export interface Pending {
  op: 'StepPlanned' | 'Sleep' | 'WaitForEvent' | 'InvokeFunction';
  name: string;
  /** Unix milliseconds. */
  since: number;
  /** When it ends if nothing ends it before, Unix milliseconds; none: it waits as long as it takes. */
  until?: number;
}
