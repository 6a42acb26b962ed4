/** Bulk operations: background work on many events, runs or logged requests, portion by portion (docs/bulk-operations.md). */

const BULK_OPERATION_KINDS = ['replay', 'bulk-action', 'cancellation', 'webhook-replay', 'what-if'] as const;
export type BulkOperationKind = (typeof BULK_OPERATION_KINDS)[number];

/** `cancelling`: starts nothing new and undoes what it started. */
export const BULK_OPERATION_STATUSES = ['running', 'paused', 'cancelling', 'cancelled', 'done'] as const;
export type BulkOperationStatus = (typeof BULK_OPERATION_STATUSES)[number];

/** Used instead of an environment in operations of the whole installation. */
export const INSTALLATION = '';

export interface BulkOperationRef {
  /** INSTALLATION, or the name of an environment. */
  env: string;
  id: string;
}

/** @typeParam Definition the parameters of the request */
export interface BulkOperation<Definition, Position> extends BulkOperationRef {
  definition: Definition;
  status: BulkOperationStatus;
  /** Everything before this position is done. */
  position: Position;
  /** Number of the next portion, as text. */
  portion: string;
  /** The plan of the portion in progress, which a worker that died may have carried out in part. */
  planned?: unknown;
  /** Counts by name; absent counts are 0. */
  counts: Record<string, number>;
  /** Why the operation is paused by the service for now. */
  waiting?: string | undefined;
  /** The time at which it reached the end or was cancelled (Unix milliseconds). */
  doneAt?: number | undefined;
}

/** Whether the operation can still start something new. */
export function isOpen({ status }: { status: BulkOperationStatus }): boolean {
  return status === 'running' || status === 'paused';
}

/** The counts whose names begin with the prefix, keyed by the rest of the name. */
export function countsBy(counts: Record<string, number>, prefix: string): Record<string, number> {
  const named = Object.entries(counts).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(named.map(([name, count]) => [name.slice(prefix.length), count]));
}

/** Actions on an operation, and the statuses in which each is possible. */
export const STATUS_CHANGES = {
  pause: { to: 'paused', from: ['running'] },
  resume: { to: 'running', from: ['paused'] },
  cancel: { to: 'cancelled', from: ['running', 'paused'] },
} as const satisfies Record<string, { to: BulkOperationStatus; from: readonly BulkOperationStatus[] }>;
export type StatusChange = keyof typeof STATUS_CHANGES;
