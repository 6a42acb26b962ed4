/** Translates run filters that no index serves into a search condition. */
import { allOf, beginsWith, isOneOf, isWildcard, mentions } from './filters.ts';
import { APP_VERSION, FINGERPRINT, type SearchNode } from './syntax.ts';

export interface RunConditions {
  /** A prefix followed by `*`. Exact IDs have an index. */
  functionId?: string | undefined;
  idPrefix?: string | undefined;
  /** Text that the error's name or message contains. */
  error?: string | undefined;
  /** Fingerprint of a failed run's error. */
  fingerprint?: string | undefined;
  /** The version of its app on which a run ends. */
  appVersion?: string | undefined;
  search?: SearchNode | undefined;
}

export function conditionOfRuns(conditions: RunConditions): SearchNode {
  const { functionId, idPrefix, error, fingerprint, appVersion, search } = conditions;
  const isWild = functionId !== undefined && isWildcard(functionId);
  return allOf([
    ...(isWild ? [beginsWith('function_id', functionId.slice(0, -1))] : []),
    ...(idPrefix === undefined ? [] : [beginsWith('run_id', idPrefix)]),
    ...(error === undefined ? [] : [mentions('error', error)]),
    ...(fingerprint === undefined ? [] : [isOneOf('status', ['Failed']), isOneOf(FINGERPRINT, [fingerprint])]),
    ...(appVersion === undefined ? [] : [isOneOf(APP_VERSION, [appVersion])]),
    ...(search === undefined ? [] : [search]),
  ]);
}
