/** Declaration of a kind of bulk operation for the store. */
import type { BulkOperationKind } from '../../model/bulk/bulk-operation.ts';

/** Limits and retention that differ between kinds. */
export interface BulkKind<Definition> {
  kind: BulkOperationKind;
  /** Maximum numbers per environment: of open operations (running or paused), and of all. */
  openMax: number;
  keptMax: number;
  /** For messages: the plural ("replays of the environment"), and how to end one ("cancel one"). */
  noun: string;
  remedy: string;
  /** How long an operation is kept after its last change. */
  ttlMs(definition: Definition, isOver: boolean): number;
  /** The definition to keep once the operation has ended. */
  whenOver?(definition: Definition): Definition;
  results: ResultsKept;
}

export interface ResultsKept {
  /** Names of the lists of results. */
  lists: readonly string[];
  /** Maximum length of each list. */
  max: number;
  /** Maximum number of skipped results, so that the rest of a list is left to others. */
  skippedMax?: number;
  /** How long results are kept at most; they never outlive the operation. */
  ttlMaxMs?: number;
  /** At the maximum, old results are dropped; by default, new results are dropped. */
  keepsLast?: true;
}
