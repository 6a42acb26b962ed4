/** The results of a comparison: the format of bench/results/peers-<date>.json. */
import type { Machine } from '../results.ts';
import type { FunctionName } from './functions.ts';

export interface PeerResults {
  /** ISO 8601. */
  at: string;
  /** Commit of the repository. */
  commit: string;
  /** A caveat, shown with the figures. */
  note?: string;
  machine: Machine;
  /** The options `--rounds` and `--seconds`. */
  rounds: number;
  seconds: number;
  engines: EngineResult[];
}

export interface EngineResult {
  name: string;
  /** Versions of everything installed for it. */
  version: string;
  durability: Durability;
  loads: LoadResult[];
}

/** When the result of a step is on disk: before the next step begins, a second or two later, or as much later than the checkpoint that it
 *  shares with other steps. */
export type Durability = 'disk' | 'second' | 'checkpoint';

/** Medians of the rounds. */
export interface LoadResult {
  function: FunctionName;
  senders: number;
  runsPerSecond: number;
  /** From the start of a run to the last line of its function. */
  p50Ms: number;
  p99Ms: number;
  /** CPU time per run. */
  cpuMs: Record<Part, number>;
}

export const PARTS = ['server', 'app', 'store'] as const;
/** What an engine consists of. */
export type Part = (typeof PARTS)[number];

export const SENDERS = [1, 32, 128] as const;
