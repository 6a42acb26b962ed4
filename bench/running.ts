/** What the parts of a benchmark know of the run that they are part of. */
import type { Options } from './options.ts';

export interface Running {
  readonly options: Options;
  /** Aborted when the run has to end before it is done. */
  readonly signal: AbortSignal;
  /** Of the stages' Redis, once there has been one. */
  redisVersion: string;
  /** Ends the run: somebody wants it to, or a part of it is lost. */
  abort(why: Error): void;
  /** Progress, for who watches; results go to stdout. */
  tell(text: string): void;
}
