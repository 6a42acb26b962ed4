/** What a kind of bulk operation does; when it does it, and in which process, is the matter of bulk-rounds.ts. */
import type { BulkOperation } from '../../model/bulk/bulk-operation.ts';
import type { BulkOperations } from '../../store/bulk/bulk-operations.ts';

export interface BulkWork<Definition extends { id: string; createdAt: number }, Position> {
  operations: BulkOperations<Definition, Position>;
  /** How many a process works on at the same time; absent: eight, and two of an environment. */
  atOnce?: { all: number; ofEnvironment: number };
  /** An operation of an environment that is gone is dropped; one of an archived environment goes on, or waits. */
  inArchivedEnvironments: 'goes-on' | 'waits';
  /** Codes of errors that pass, and for which it is said to wait. */
  waitsFor(code: string): boolean;
  /** @returns why it does nothing for now */
  reasonToWait?(operation: BulkOperation<Definition, Position>): Promise<string | undefined>;
  /** Does a portion of one that runs. @returns how long the next one waits, in milliseconds; undefined: there is none */
  doPortion(operation: BulkOperation<Definition, Position>, signal: AbortSignal): Promise<number | undefined>;
  /** What is left to do for one that does not run. @returns as above */
  settle?(operation: BulkOperation<Definition, Position>, signal: AbortSignal): Promise<number | undefined>;
}

/** One of any kind. */
// biome-ignore lint/suspicious/noExplicitAny: what it does is between it and its own store
export type AnyBulkWork = BulkWork<any, any>;
