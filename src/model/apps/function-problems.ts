/** Parts of a function's configuration that have no effect. */
import { flowProblemsOf } from '../flow-control/function-options.ts';
import type { AppFunction } from './app.ts';

/** One sentence for each problem that was found at registration or concerns functions registered by an earlier version of the service. */
export function functionProblems(fn: Pick<AppFunction, 'config' | 'problems'>): string[] {
  return [...(fn.problems ?? []), ...flowProblemsOf(fn)];
}
