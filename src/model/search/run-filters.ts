/** The filters of runs that no index serves, as a condition. */
import { allOf, beginsWith, isOneOf, isWildcard, mentions } from './filters.ts';
import type { SearchNode } from './syntax.ts';
import { FINGERPRINT } from './variables.ts';

export interface RunConditions {
  /** With `*` at its end: the beginning of IDs. An exact ID has an index. */
  functionId?: string | undefined;
  idPrefix?: string | undefined;
  /** A text in the name or the message. */
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
