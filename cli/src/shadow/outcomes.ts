/** Compares how the runs of a function on one event ended at both servers. */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../api-client.ts';

const ENDED = ['Completed', 'Failed', 'Cancelled'];

/** The last run of a function on an event: a re-run replaces earlier runs. */
export interface Outcome {
  runId: string;
  status: string;
  /** Its output; the error, if the run failed. */
  output: unknown;
}

/** @param runs of one event, in any order @returns the last run of each function */
export function outcomesOf(runs: readonly Json[]): Map<string, Outcome> {
  const begin = ({ queued_at, run_started_at }: Json) => Date.parse(queued_at ?? run_started_at) || 0;
  const sorted = runs.toSorted((a, b) => begin(a) - begin(b));
  return new Map(
    sorted.map(({ function_id, run_id, status, output }) => [function_id, { runId: run_id, status, output }]),
  );
}

export function hasEnded(outcome: Outcome | undefined): outcome is Outcome {
  return outcome !== undefined && ENDED.includes(outcome.status);
}

/** Both have ended. Errors have stacks, in which paths differ, so of failed runs only the status counts; the order of an object's members never
 *  does. @returns undefined: they are alike */
export function differenceOf(there: Outcome, here: Outcome): 'status' | 'output' | undefined {
  if (there.status !== here.status) return 'status';
  const isAlike = there.status !== 'Completed' || isDeepStrictEqual(there.output ?? null, here.output ?? null);
  return isAlike ? undefined : 'output';
}
