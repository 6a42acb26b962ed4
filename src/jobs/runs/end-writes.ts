/** What the end of a run writes, as data: a list of writes in their order (state-transitions.ts). A process may die after any of them. Another
 *  one then repeats the transition, or does the rest of it, so every write can be repeated. */

/** Whoever finds an ended run may repeat them. */
const FOLLOWING = ['singleton', 'failureCount', 'replayCount', 'invoker'] as const;

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
