/** Paused runs: they have not ended, and are not called until somebody resumes them. Imports nothing, because the dashboard uses it in the
 *  browser. */

/** Choices for a run whose call has used up its attempts. Restate has the same choice under the name `onMaxAttempts`;
 *  here "attempts" also counts the first one, and the reason of the pause is the same word. */
export const ON_EXHAUSTED = ['fail', 'pause'] as const;
export type OnExhausted = (typeof ON_EXHAUSTED)[number];

/** exhausted: a call had no attempt left; version_gone: the version of the app on which the run must continue cannot be reached. */
export const PAUSE_REASONS = ['exhausted', 'version_gone'] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

export interface Pause {
  reason: PauseReason;
  /** Unix milliseconds. */
  since: number;
  /** The step that failed, by its hashed ID; undefined: the function itself. */
  step?: { id: string; name: string };
}
