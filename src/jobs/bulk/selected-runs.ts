/** The runs that a bulk action selects, newest first, and how many they are. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchPage } from '../../history/search-merge.ts';
import { withinPrefix } from '../../history/search-range.ts';
import type { Searches } from '../../history/searches.ts';
import type { RunSelection } from '../../model/runs/bulk-action.ts';
import type { Run, RunStatus } from '../../model/runs/run.ts';
import { isWildcard } from '../../model/search/filters.ts';
import { parseSearch } from '../../model/search/parse.ts';
import { conditionOfRuns } from '../../model/search/run-filters.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';

type Position = NonNullable<SearchPage<unknown>['next']>;

const COUNTED_AT_ONCE = 500;
const COUNT_MS = 5_000;
const SAMPLE_MAX = 20;

export interface RunCounts {
  count: number;
  byStatus: Map<RunStatus, number>;
  byFunction: Map<string, number>;
  sample: Run[];
  /** Runs created before it were not counted; undefined: all were. */
  stoppedAt: number | undefined;
}

export interface SelectedRunsDeps {
  searches: Pick<Searches, 'runs' | 'runsOfEvent'>;
  functionTables: FunctionTables;
}

export class SelectedRuns {
  readonly #deps: SelectedRunsDeps;

  constructor(deps: SelectedRunsDeps) {
    this.#deps = deps;
  }

  /** @throws ServiceError searches_full, archive_unavailable */
  async page(
    selection: RunSelection,
    cursor: Position | undefined,
    { limit, timeoutMs }: { limit: number; timeoutMs: number },
  ): Promise<SearchPage<Run>> {
    const { searches, functionTables } = this.#deps;
    const { env, statuses, functionId, app, eventId, idPrefix, error, fingerprint, after, before } = selection;
    const search = selection.search === undefined ? undefined : parseSearch(selection.search, 'runs');
    const node = conditionOfRuns({ functionId, idPrefix, error, fingerprint, search });
    const timeRange = withinPrefix({ after, before, cursor }, idPrefix, true);
    if (!timeRange) return { found: [], next: undefined };
    const functionIds = await functionIdsOf(functionTables, env, app, functionId);
    const query = { env, node, functionIds, statuses, timeRange, limit };
    if (eventId !== undefined) return searches.runsOfEvent(eventId, query);
    return searches.runs({ ...query, timeoutMs }, Date.now());
  }

  /** Bounded in time. */
  async count(selection: RunSelection, timeoutMs: number = COUNT_MS): Promise<RunCounts> {
    const deadline = performance.now() + timeoutMs;
    const counts: RunCounts = {
      count: 0,
      byStatus: new Map(),
      byFunction: new Map(),
      sample: [],
      stoppedAt: undefined,
    };
    let cursor: Position | undefined;
    for (;;) {
      const timeLeftMs = Math.max(1, deadline - performance.now());
      const page = await this.page(selection, cursor, { limit: COUNTED_AT_ONCE, timeoutMs: timeLeftMs });
      for (const run of page.found) add(counts, run);
      if (!page.next) return counts;
      if (page.stoppedEarly || performance.now() >= deadline) return { ...counts, stoppedAt: page.next.at };
      cursor = page.next;
      await nextTurn();
    }
  }
}

function add(counts: RunCounts, run: Run): void {
  counts.count++;
  counts.byStatus.set(run.status, (counts.byStatus.get(run.status) ?? 0) + 1);
  counts.byFunction.set(run.functionId, (counts.byFunction.get(run.functionId) ?? 0) + 1);
  if (counts.sample.length < SAMPLE_MAX) counts.sample.push(run);
}

/** The functions whose runs are selected, including archived ones; undefined: all functions, or all that begin so. */
export async function functionIdsOf(
  functionTables: FunctionTables,
  env: string,
  app: string | undefined,
  functionId: string | undefined,
): Promise<readonly string[] | undefined> {
  const ofApp = app === undefined ? undefined : (await functionTables.of(env)).idsOf(app);
  if (functionId === undefined) return ofApp;
  if (isWildcard(functionId)) return ofApp?.filter((id) => id.startsWith(functionId.slice(0, -1)));
  return ofApp ? ofApp.filter((id) => id === functionId) : [functionId];
}
