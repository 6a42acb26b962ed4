/** Options and results of ending a run. */
import type { Pending, StateLimit } from '../../model/runs/memo.ts';
import type { HistoryEntry } from '../../model/runs/run.ts';
import type { Finished, FinishReply, JobEnding } from '../redis/job-lists.ts';
import type { FinishedStep } from './checkpoints.ts';
import { type RemoteWait, readRemote } from './wait-location.ts';

/** The steps of a run when it ended. */
export interface StepsAtEnd {
  /** Number of finished steps that the next call would have had. */
  done: number;
  /** Pending steps by their hashed IDs. */
  pending: Map<string, Pending>;
  /** Whether work that follows the end is recorded as unfinished (unfinished-ends.ts). */
  isUnfinished: boolean;
}

/** Further effects of the end of a run. */
export interface EndOptions {
  /** Whether the run may have jobs besides those of its pending steps. Its end is unfinished until all these jobs are removed
   *  (unfinished-ends.ts). */
  hasJobs?: boolean;
  /** Number of deferred functions already started. */
  startedDefers?: number;
  /** The job of the call that ends the run: the job ends with the run if nothing else is left to do. */
  job?: JobEnding;
  history?: HistoryOfEnd | undefined;
  /** Steps that finished with the run, without entries: `history` has them. They are stored with the end. */
  steps?: readonly FinishedStep[] | undefined;
}

/** Why a run has not ended. 'defers': its deferred functions must be started first. Otherwise the limit that its steps would exceed. */
export type RefusedEnd = 'defers' | StateLimit;

/** Entries to append to the history, even if the run had ended before. */
export interface HistoryOfEnd {
  entries: readonly HistoryEntry[];
  /** Whether the entries are of interest only after checkpoints: without checkpoints, the record of the run says as much. */
  onlyAfterCheckpoints: boolean;
}

/** The state of a run when it ended. */
export interface LeftOver extends StepsAtEnd {
  /** Whether runs wait for the event about this end; undefined: the job has ended, and they may be in another partition if the end is
   *  unfinished. */
  awaited: boolean | undefined;
  /** The end of the job that ended with the run. */
  finished?: Finished;
}

export type EndReply = [
  outcome: number,
  done?: number | StateLimit,
  begun?: string[],
  keysWithWaits?: number,
  apart?: string[],
  end?: FinishReply,
];

export function toRemoteWaits(flat: readonly string[]): [key: string, RemoteWait][] {
  return Array.from({ length: flat.length / 2 }, (_, i): [string, RemoteWait | undefined] => [
    flat[2 * i] as string,
    readRemote(flat[2 * i + 1] as string),
  ]).filter((entry): entry is [string, RemoteWait] => entry[1] !== undefined);
}
