/** Error groups of runs. */
import type { StoreContext } from '../store-context.ts';
import { ErrorGroups } from './error-groups.ts';

export interface ErrorStore {
  errorGroups: ErrorGroups;
}

export function createErrorStore({ redis, keys }: StoreContext): ErrorStore {
  return { errorGroups: new ErrorGroups(redis, keys) };
}
