/** The runs that a bulk action selects, and their number: by filter, newest first; by ID, or by the action that started them, in that
 *  order. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { History } from '../../history/history.ts';
import type { SearchPage } from '../../history/search-merge.ts';
import { withinPrefix } from '../../history/search-range.ts';
import type { Searches } from '../../history/searches.ts';
import type { TriggerTable } from '../../model/events/triggers.ts';
import type { BulkAction, BulkPortion, BulkResult, RunSelection } from '../../model/runs/bulk-action.ts';
import { type Excludable, isExcluded, LISTED_FUNCTIONS_MAX } from '../../model/runs/excluded-functions.ts';
import type { Run, RunStatus } from '../../model/runs/run.ts';
import { isWildcard } from '../../model/search/filters.ts';
import { parseSearch } from '../../model/search/parse.ts';
import { conditionOfRuns } from '../../model/search/run-filters.ts';
import { Composed } from '../../model/values/composed.ts';
import { addTo } from '../../model/values/counting.ts';
import type { BulkStore } from '../../store/bulk/store.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import type { RunStates } from '../runs/run-states.ts';
import type { RerunSkip, Reruns } from './reruns.ts';

type Position = NonNullable<SearchPage<unknown>['next']>;

const COUNTED_AT_ONCE = 500;
/** Maximum number of runs read at once, because they are read with all fields. */
const READ_AT_ONCE = 100;
const COUNT_MS = 5_000;
const SAMPLE_MAX = 20;
const RESULTS_AT_ONCE = 10_000;

export interface RunCounts {
  count: number;
  byStatus: Map<RunStatus, number>;
  byFunction: Map<string, number>;
  /** Runs that a re-run leaves out. */
  skipped: Map<RerunSkip, number>;
  sample: Run[];
  /** false: a lower bound. */
  isExact: boolean;
  /** Runs created before this time were not counted. */
  stoppedAt: number | undefined;
}

export class SelectedRuns extends Composed<{
  searches: Pick<Searches, 'runs' | 'runsOfEvent'>;
  runs: Pick<History['runs'], 'readMany'>;
  runStates: Pick<RunStates, 'of'>;
  bulkActions: Pick<BulkStore['bulkActions'], 'read' | 'results'>;
  functionTables: FunctionTables;
  reruns: Pick<Reruns, 'of'>;
}> {
  /** @throws ServiceError searches_full, archive_unavailable */
  async page(
    selection: RunSelection,
    cursor: Position | undefined,
    { limit, timeoutMs }: { limit: number; timeoutMs: number },
  ): Promise<SearchPage<Run>> {
    if (isListed(selection)) return this.#listed(selection, cursor?.at ?? 0, Math.min(limit, READ_AT_ONCE));
    const { states } = selection;
    const page = await this.#found(selection, cursor, { limit, timeoutMs });
    if (!states || page.found.length === 0) return page;
    const stateOf = await this.deps.runStates.of(page.found);
    return { ...page, found: page.found.filter(({ id }) => states.includes(stateOf.get(id)?.kind ?? 'running')) };
  }

  async #found(
    selection: RunSelection,
    cursor: Position | undefined,
    { limit, timeoutMs }: { limit: number; timeoutMs: number },
  ): Promise<SearchPage<Run>> {
    const { searches, functionTables } = this.deps;
    const { env, statuses, functionId, eventId, idPrefix, error, fingerprint, appVersion } = selection;
    const { after, before } = selection;
    const search = selection.search === undefined ? undefined : parseSearch(selection.search, 'runs');
    const node = conditionOfRuns({ functionId, idPrefix, error, fingerprint, appVersion, search });
    const timeRange = withinPrefix({ after, before, cursor }, idPrefix, true);
    if (!timeRange) return { found: [], next: undefined };
    const functionIds = await functionIdsOf(functionTables, env, selection);
    const query = { env, node, functionIds, statuses, timeRange, limit };
    if (eventId !== undefined) return searches.runsOfEvent(eventId, query);
    return searches.runs({ ...query, timeoutMs }, Date.now());
  }

  /** @param from number of runs examined before */
  async #listed(selection: RunSelection, from: number, limit: number): Promise<SearchPage<Run>> {
    const { env, statuses, startedBy } = selection;
    const { ids, planned = [], isLast } = await this.#idsFrom(selection, from, limit);
    const runs = await this.deps.runs.readMany(env, [...new Set([...ids, ...planned])]);
    const next = isLast ? undefined : { at: from + limit, id: '' };
    const recorded = new Set(ids);
    // A planned re-run may have been started by another action. A recorded one has no action if an earlier version started it.
    const isOwn = ({ id, bulkActionId }: Run) =>
      startedBy === undefined || bulkActionId === startedBy || (bulkActionId === undefined && recorded.has(id));
    return { found: runs.filter((run) => statuses.includes(run.status) && isOwn(run)), next };
  }

  async #idsFrom({ env, runIds, startedBy = '' }: RunSelection, from: number, limit: number) {
    if (runIds) return { ids: runIds.slice(from, from + limit), isLast: from + limit >= runIds.length };
    const { bulkActions } = this.deps;
    const results = await bulkActions.results<BulkResult>({ env, id: startedBy }, { from, limit });
    const ids = results.flatMap(({ rerunId }) => rerunId ?? []);
    if (results.length === limit) return { ids, isLast: false };
    // A worker that died may have started runs without recording them.
    const portion = (await bulkActions.read(env, startedBy))?.planned as BulkPortion | undefined;
    const planned = portion?.runs.flatMap(({ rerunId }) => rerunId ?? []) ?? [];
    return { ids, planned, isLast: true };
  }

  /** Number of runs that a bulk re-run started and that its results do not name: they have room for a part of many, and are kept for 7 days. */
  async notListed({ env, id, definition, counts }: BulkAction): Promise<number> {
    const { done: started = 0, results_omitted: omitted = 0 } = counts;
    if (definition.action !== 'retry') return 0;
    let listed = 0;
    for (let from = 0; listed < started; from += RESULTS_AT_ONCE) {
      const limit = RESULTS_AT_ONCE;
      const results = await this.deps.bulkActions.results<BulkResult>({ env, id }, { from, limit });
      if (results.length > 0 && omitted === 0) return 0;
      listed += results.filter(({ rerunId }) => rerunId !== undefined).length;
      if (results.length < limit) break;
      await nextTurn();
    }
    return Math.max(0, started - listed);
  }

  /** Counts selected runs for a bounded time. @param leavesOut whether to count also the runs that a re-run leaves out */
  async count(
    selection: RunSelection,
    { timeoutMs = COUNT_MS, leavesOut = false }: { timeoutMs?: number; leavesOut?: boolean } = {},
  ): Promise<RunCounts> {
    const deadline = performance.now() + timeoutMs;
    const counts: RunCounts = {
      count: 0,
      byStatus: new Map(),
      byFunction: new Map(),
      skipped: new Map(),
      sample: [],
      isExact: true,
      stoppedAt: undefined,
    };
    const taken = new Set<string>();
    let cursor: Position | undefined;
    for (;;) {
      const timeLeftMs = Math.max(1, deadline - performance.now());
      const page = await this.page(selection, cursor, { limit: COUNTED_AT_ONCE, timeoutMs: timeLeftMs });
      for (const run of page.found) add(counts, run);
      if (leavesOut && performance.now() < deadline) {
        const skips = await this.deps.reruns.of(selection.env, page.found, { taken, whenUnavailable: 'hot' });
        for (const reason of skips.values()) addTo(counts.skipped, reason);
      }
      if (!page.next) return counts;
      if (page.stoppedEarly || performance.now() >= deadline) {
        return { ...counts, isExact: false, stoppedAt: isListed(selection) ? undefined : page.next.at };
      }
      cursor = page.next;
      await nextTurn();
    }
  }
}

/** Whether the runs are listed instead of found by a filter. */
function isListed({ runIds, startedBy }: RunSelection): boolean {
  return runIds !== undefined || startedBy !== undefined;
}

function add(counts: RunCounts, run: Run): void {
  counts.count++;
  addTo(counts.byStatus, run.status);
  addTo(counts.byFunction, run.functionId);
  if (counts.sample.length < SAMPLE_MAX) counts.sample.push(run);
}

export interface FunctionFilter {
  app?: string | undefined;
  functionId?: string | undefined;
  exclude?: readonly Excludable[] | undefined;
}

/** Functions whose runs are selected, including archived ones; undefined: all functions, or all with the prefix. */
export async function functionIdsOf(
  functionTables: FunctionTables,
  env: string,
  { app, functionId, exclude = [] }: FunctionFilter,
): Promise<readonly string[] | undefined> {
  const table = await functionTables.of(env);
  const ofApp = exclude.length > 0 ? included(table, app, exclude) : app === undefined ? undefined : table.idsOf(app);
  if (functionId === undefined) return ofApp;
  if (isWildcard(functionId)) return ofApp?.filter((id) => id.startsWith(functionId.slice(0, -1)));
  return ofApp ? ofApp.filter((id) => id === functionId) : [functionId];
}

/** @returns IDs of functions; undefined: all functions, because leaving some out would take too many lists */
function included(table: TriggerTable, app: string | undefined, exclude: readonly Excludable[]) {
  const all = [...table.all()].filter((fn) => app === undefined || fn.app === app);
  const kept = all.filter((fn) => !isExcluded(fn, exclude));
  const isFew = app !== undefined || kept.length <= LISTED_FUNCTIONS_MAX;
  return kept.length < all.length && isFew
    ? kept.map(({ id }) => id)
    : app === undefined
      ? undefined
      : table.idsOf(app);
}
