/** Bulk cancellations: cancel all active runs of a function that were queued within a time range and whose event meets an expression. */
import { createHash } from 'node:crypto';
import type { BulkOperation } from '../bulk/bulk-operation.ts';

export interface CancellationDefinition {
  id: string;
  app: string;
  functionId: string;
  /** Earliest time of queueing, Unix milliseconds; undefined: no lower bound. */
  after?: number;
  /** Latest time of queueing, exclusive. May be in the future, to include runs queued until then. */
  before: number;
  /** CEL over `event`. */
  expression?: string;
  /** Selects only runs without any call yet, because their function was paused. */
  queuedOnly?: true;
  createdAt: number;
}

/** A pass over the runs: its start, and the last run that it processed. */
export interface CancellationPass {
  startedAt: number;
  at: number;
  id: string;
}

/** The count `cancelled` is the number of runs cancelled. Without a position, the next portion starts a new pass. */
export type Cancellation = BulkOperation<CancellationDefinition, CancellationPass | null>;

/** Runs are stored shortly after the time at which they are queued. */
const SETTLED_MS = 10_000;

/** Whether a pass that ends now has seen every run of the range. */
export function coversAll({ before }: CancellationDefinition, passStartedAt: number): boolean {
  return passStartedAt >= before + SETTLED_MS;
}

/** Equal for definitions that cancel the same runs. */
export function digestOf({ functionId, after, before, expression, queuedOnly }: CancellationDefinition): string {
  const selection = JSON.stringify([functionId, after, before, expression, queuedOnly]);
  return createHash('sha256').update(selection).digest('base64url');
}
