/** What a kind of bulk operations says of itself to the store. */
import type { BulkOperationKind } from '../../model/bulk/bulk-operation.ts';

/** What differs between kinds in what is kept of them. */
export interface BulkKind<Definition> {
  kind: BulkOperationKind;
  /** Of an environment: those that run or are paused, and all. */
  openMax: number;
  keptMax: number;
  /** For people, in the plural: "replays of the environment"; and how to end one: "cancel one". */
  noun: string;
  remedy: string;
  /** Without a change, it is forgotten after so long. */
  ttlMs(definition: Definition, isOver: boolean): number;
  /** What is kept of one that is over. */
  whenOver?(definition: Definition): Definition;
  results: ResultsKept;
}

export interface ResultsKept {
  /** Names of the lists. */
  lists: readonly string[];
  /** Of each list. */
  max: number;
  /** Of them; the rest is for those that were not skipped. */
  skippedMax?: number;
  /** They are kept as long as the operation, and no longer than this. */
  ttlMaxMs?: number;
  /** Beyond the maximum, the oldest go; otherwise the new ones are left out. */
  keepsLast?: true;
}
