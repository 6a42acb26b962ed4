/** Functions that the list of runs leaves out unless it is asked not to: schedules and failure handlers. */
import { useMemo } from 'react';
import { EXCLUDABLE, isExcluded, LISTED_FUNCTIONS_MAX } from '../../../../src/model/runs/excluded-functions.ts';
import type { ListedFunction } from '../../api/types.ts';

export const EXCLUDE = EXCLUDABLE.join(',');

/** @returns their IDs; empty also where the environment has too many functions to leave any out */
export function useExcluded(functions: readonly ListedFunction[] | undefined): ReadonlySet<string> {
  return useMemo(() => {
    const all = functions ?? [];
    const excluded = all.filter(({ triggers = [] }) => isExcluded({ triggers: triggers as never }, EXCLUDABLE));
    const isFew = all.length - excluded.length <= LISTED_FUNCTIONS_MAX;
    return new Set(isFew ? excluded.map(({ id }) => id) : []);
  }, [functions]);
}
