/** The part of a benchmark run that test beds depend on. */
import type { Options } from './options.ts';

export interface BenchmarkRun {
  readonly options: Options;
  /** Aborted when the run ends early. */
  readonly signal: AbortSignal;
  /** Version of the test beds' Redis; empty before the first one starts. */
  redisVersion: string;
  /** Ends the run after an interrupt, or when a process exits unexpectedly. */
  abort(why: Error): void;
  /** Prints progress to stderr. Results go to stdout. */
  progress(text: string): void;
}
