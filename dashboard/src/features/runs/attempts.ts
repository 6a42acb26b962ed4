/** Attempts are counted the same way everywhere: from 1 to the number that the function allows. */
import type { Run } from '../../api/types.ts';

/** "attempt 2 of 4" */
export function attemptText(number: number | undefined, max: number | undefined): string {
  return `attempt ${number ?? 1}${max === undefined ? '' : ` of ${max}`}`;
}

/** The attempt of the current or last call of a run: "2 of 4". */
export function attemptOf(
  { attempt, run_started_at }: Pick<Run, 'attempt' | 'run_started_at'>,
  max: number | undefined,
): string {
  if (run_started_at === null) return 'None yet';
  return `${attempt + 1}${max === undefined ? '' : ` of ${Math.max(max, attempt + 1)}`}`;
}
