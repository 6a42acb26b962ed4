/** Bulk cancellations: cancel the active runs of a function that were queued in a time range and whose event meets an expression. */
import { createHash } from 'node:crypto';
import type { BulkOperation } from '../bulk/bulk-operation.ts';

export interface CancellationDefinition {
  id: string;
  app: string;
  functionId: string;
  /** Queued at this time or later, Unix milliseconds; undefined: however early. */
  after?: number;
  /** Queued before this time. In the future: runs that are queued until then are cancelled too. */
  before: number;
  /** CEL over `event`. */
  expression?: string;
  /** Only runs that have had no call, because their function was paused. */
  queuedOnly?: true;
  createdAt: number;
}

/** A pass over the runs: when it began, and the last run that it looked at. */
export interface CancellationPass {
  startedAt: number;
  at: number;
  id: string;
}

/** Its count `cancelled` is the number of runs that it cancelled; without a position, the next portion begins a pass. */
export type Cancellation = BulkOperation<CancellationDefinition, CancellationPass | null>;

/** A run is stored a moment after the time at which it is queued. */
const SETTLED_MS = 10_000;

/** Whether a pass that ended now has seen every run of the range. */
export function coversAll({ before }: CancellationDefinition, passStartedAt: number): boolean {
  return passStartedAt >= before + SETTLED_MS;
}

/** Equal for those that cancel the same runs. */
export function digestOf({ functionId, after, before, expression, queuedOnly }: CancellationDefinition): string {
  const selection = JSON.stringify([functionId, after, before, expression, queuedOnly]);
  return createHash('sha256').update(selection).digest('base64url');
}
