/** The work of a kind of bulk operation. bulk-rounds.ts decides when and in which process it runs. */
import type { BulkOperation } from '../../model/bulk/bulk-operation.ts';
import type { BulkOperations } from '../../store/bulk/bulk-operations.ts';

export interface BulkWork<Definition extends { id: string; createdAt: number }, Position> {
  operations: BulkOperations<Definition, Position>;
  /** Maximum number of operations that a process works on at once; absent: eight, and two per environment. */
  concurrency?: { total: number; perEnvironment: number };
  /** Behavior while the environment is archived. In a deleted environment, operations are dropped. */
  inArchivedEnvironments: 'continues' | 'waits';
  /** Whether an error with this code is temporary: the operation then reports it as the reason to wait. Absent: `archive_unavailable` is. */
  waitsFor?(code: string): boolean;
  /** @returns why the operation must wait */
  reasonToWait?(operation: BulkOperation<Definition, Position>): Promise<string | undefined>;
  /** Carries out a portion of a running operation. @returns milliseconds until the next portion; undefined: there is no next portion */
  doPortion(operation: BulkOperation<Definition, Position>, signal: AbortSignal): Promise<number | undefined>;
  /** Does the remaining work of an operation that is not running. @returns like `doPortion` */
  settle?(operation: BulkOperation<Definition, Position>, signal: AbortSignal): Promise<number | undefined>;
}

/** Work of any kind. */
// biome-ignore lint/suspicious/noExplicitAny: the type only concerns the work and its own store
export type AnyBulkWork = BulkWork<any, any>;
