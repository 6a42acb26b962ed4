/** Paused runs: they have not ended, and are not called until somebody resumes them. Imports nothing, because the dashboard uses it in the
 *  browser. */

/** Choices for a run whose call has used up its attempts. Restate calls this choice `onMaxAttempts`. Here, attempts include the first one,
 *  and `exhausted` is also the reason of the pause. */
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
