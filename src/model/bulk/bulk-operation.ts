/** Bulk operations: what the service does with many events, runs or logged requests in the background, portion by portion (docs/bulk-operations.md). */

export const BULK_OPERATION_KINDS = ['replay', 'bulk-action', 'cancellation', 'webhook-replay'] as const;
export type BulkOperationKind = (typeof BULK_OPERATION_KINDS)[number];

/** `cancelling`: it does nothing new, and undoes what it started. */
export const BULK_OPERATION_STATUSES = ['running', 'paused', 'cancelling', 'cancelled', 'done'] as const;
export type BulkOperationStatus = (typeof BULK_OPERATION_STATUSES)[number];

/** The environment of bulk operations that belong to the whole installation. */
export const INSTALLATION = '';

export interface BulkOperationRef {
  /** INSTALLATION, or the name of an environment. */
  env: string;
  id: string;
}

/** @typeParam Definition what it was asked to do */
export interface BulkOperation<Definition, Position> extends BulkOperationRef {
  definition: Definition;
  status: BulkOperationStatus;
  /** Everything before is done. */
  position: Position;
  /** Number of the portion that is next, as text. */
  portion: string;
  /** What the portion does that is in progress: what a worker that died may have done of it. */
  planned?: unknown;
  /** Numbers by name; those that are absent are 0. */
  counts: Record<string, number>;
  /** Why it does nothing for now. */
  waiting?: string | undefined;
  /** When it had looked at everything, or was cancelled (Unix milliseconds). */
  doneAt?: number | undefined;
}

/** Whether it can still do something new. */
export function isOpen({ status }: { status: BulkOperationStatus }): boolean {
  return status === 'running' || status === 'paused';
}

/** The counts whose names begin so, by the rest of their names. */
export function countsBy(counts: Record<string, number>, prefix: string): Record<string, number> {
  const named = Object.entries(counts).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(named.map(([name, count]) => [name.slice(prefix.length), count]));
}

/** What people can do with one, and the statuses in which they can. */
export const STATUS_CHANGES = {
  pause: { to: 'paused', from: ['running'] },
  resume: { to: 'running', from: ['paused'] },
  cancel: { to: 'cancelled', from: ['running', 'paused'] },
} as const satisfies Record<string, { to: BulkOperationStatus; from: readonly BulkOperationStatus[] }>;
export type StatusChange = keyof typeof STATUS_CHANGES;
