/** Error groups of runs. */
import type { StoreContext } from '../store-context.ts';
import { ErrorGroups } from './error-groups.ts';

export function createErrorStore({ redis, keys }: StoreContext) {
  return { errorGroups: new ErrorGroups(redis, keys) };
}
