/** Pages of runs: from the indexes if these support the filters, otherwise by search. */
import type { History } from '../../history/history.ts';
import type { SearchPage } from '../../history/search-merge.ts';
import { withinPrefix } from '../../history/search-range.ts';
import type { Searches } from '../../history/searches.ts';
import type { Run, RunStatus } from '../../model/runs/run.ts';
import { isWildcard } from '../../model/search/filters.ts';
import { conditionOfRuns } from '../../model/search/run-filters.ts';
import type { TimeRange } from '../../store/redis/pagination.ts';
import { searchOf } from './search-query.ts';

export interface RunFilters {
  env: string;
  /** undefined: all functions. */
  functionIds: readonly string[] | undefined;
  function_id?: string | undefined;
  statuses?: readonly RunStatus[] | undefined;
  /** Leaves out runs that are not paused, where an index can. */
  isPaused?: boolean | undefined;
  event_id?: string | undefined;
  id_prefix?: string | undefined;
  error?: string | undefined;
  fingerprint?: string | undefined;
  app_version?: string | undefined;
  search?: string | undefined;
  timeRange: TimeRange;
  limit: number;
}

export async function listRuns(
  { runLists, searches }: { runLists: History['runLists']; searches: Searches },
  {
    principal,
    function_id,
    id_prefix,
    error,
    fingerprint,
    app_version,
    search,
    event_id,
    statuses,
    ...query
  }: RunFilters & {
    principal: string;
  },
  nowMs: number,
): Promise<SearchPage<Run>> {
  const { env, functionIds, limit } = query;
  const isWild = function_id !== undefined && isWildcard(function_id);
  const isSearched = [id_prefix, error, fingerprint, app_version, search].some((filter) => filter !== undefined);
  if (!isSearched && !isWild) {
    const indexed = { ...query, statuses };
    const found = event_id === undefined ? runLists.list(indexed) : runLists.listByEvent(event_id, indexed);
    const { runs, ...page } = await found;
    return { ...page, found: runs };
  }
  const node = conditionOfRuns({
    functionId: function_id,
    idPrefix: id_prefix,
    error,
    fingerprint,
    appVersion: app_version,
    search: search === undefined ? undefined : searchOf(search, 'runs'),
  });
  const timeRange = withinPrefix(query.timeRange, id_prefix, true);
  if (!timeRange) return { found: [], next: undefined };
  const wanted = { env, principal, node, functionIds, statuses, timeRange, limit };
  return event_id === undefined ? searches.runs(wanted, nowMs) : searches.runsOfEvent(event_id, wanted);
}
