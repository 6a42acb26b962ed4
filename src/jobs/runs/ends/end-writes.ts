/** The writes of the end of a run, as data: a list in order (state-transitions.ts). A process may die after any write. Another process then
 *  repeats the transition or completes it, so every write can be repeated. */

/** Any process that finds an ended run may repeat them. */
const FOLLOWING = ['singleton', 'lane', 'failureCount', 'replayCount', 'invoker'] as const;

export const WRITES_OF_END = {
  complete: ['end', ...FOLLOWING, 'jobs', 'completedEvent'],
  /** The event comes before the end: if the process dies in between, repeating both changes nothing. */
  fail: ['failedEvent', 'end', ...FOLLOWING, 'jobs'],
  cancel: ['cancelledEvent', 'end', ...FOLLOWING, 'jobs'],
  /** A call finds that its run has ended. */
  repeatEnd: [...FOLLOWING, 'completedEvent'],
  /** A process died before it had removed the jobs of an ended run. */
  finishEnd: [...FOLLOWING, 'completedEvent', 'jobs'],
} as const satisfies Record<string, readonly string[]>;

export type EndTransition = keyof typeof WRITES_OF_END;
export type EndWrite = (typeof WRITES_OF_END)[EndTransition][number];
