/** Translates run filters that no index serves into a search condition. */
import { allOf, beginsWith, isOneOf, isWildcard, mentions } from './filters.ts';
import type { SearchNode } from './syntax.ts';
import { FINGERPRINT } from './variables.ts';

export interface RunConditions {
  /** A prefix followed by `*`. Exact IDs have an index. */
  functionId?: string | undefined;
  idPrefix?: string | undefined;
  /** Text that the error's name or message contains. */
  error?: string | undefined;
  /** Fingerprint of a failed run's error. */
  fingerprint?: string | undefined;
  search?: SearchNode | undefined;
}

export function conditionOfRuns({ functionId, idPrefix, error, fingerprint, search }: RunConditions): SearchNode {
  const isWild = functionId !== undefined && isWildcard(functionId);
  return allOf([
    ...(isWild ? [beginsWith('function_id', functionId.slice(0, -1))] : []),
    ...(idPrefix === undefined ? [] : [beginsWith('run_id', idPrefix)]),
    ...(error === undefined ? [] : [mentions('error', error)]),
    ...(fingerprint === undefined ? [] : [isOneOf('status', ['Failed']), isOneOf(FINGERPRINT, [fingerprint])]),
    ...(search === undefined ? [] : [search]),
  ]);
}
