/** What does not work as the app configured it. */
import { flowProblemsOf } from '../flow-control/function-options.ts';
import type { AppFunction } from './app.ts';

/** One sentence for each. The registration found some; an earlier version may have registered the others. */
export function functionProblems(fn: Pick<AppFunction, 'config' | 'problems'>): string[] {
  return [...(fn.problems ?? []), ...flowProblemsOf(fn)];
}
