/** Parts of a function's configuration that have no effect. */
import { flowProblemsOf } from '../flow-control/function-options.ts';
import type { AppFunction } from './app.ts';

/** One sentence each: problems found at registration, and those of functions that an earlier version registered. */
export function functionProblems(fn: Pick<AppFunction, 'config' | 'problems'>): string[] {
  return [...(fn.problems ?? []), ...flowProblemsOf(fn)];
}
