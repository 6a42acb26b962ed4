/** Searches runs by content and other conditions, hot and archived, newest first. */
import type { Archive } from '../archive/archive.ts';
import { ArchivedSearch } from '../archive/archived-search.ts';
import { type Ending, isEnding, RUN_STATUSES, type Run, type RunStatus } from '../model/runs/run.ts';
import { readsOfRun, type SearchedEvent } from '../model/search/documents.ts';
import { type Matcher, matcherOf } from '../model/search/evaluate.ts';
import { requiredTimes, requiredValue } from '../model/search/narrowing.ts';
import { EVENT_PREFIX, type SearchNode, variablesOf } from '../model/search/syntax.ts';
import { Composed } from '../model/values/composed.ts';
import { tryParseShallow } from '../model/values/json.ts';
import type { Position, TimeRange } from '../store/redis/pagination.ts';
import { type RunLists, runPosition } from '../store/runs/run-lists.ts';
import type { History } from './history.ts';
import { matching } from './matching.ts';
import { archiveBorder } from './merged-page.ts';
import { mergedSearch, type SearchPage, type SearchSource } from './search-merge.ts';
import { narrowed } from './search-range.ts';

export interface RunSearchQuery {
  env: string;
  node: SearchNode;
  /** undefined: all functions. */
  functionIds: readonly string[] | undefined;
  statuses?: readonly RunStatus[] | undefined;
  /** Time range of creation. */
  timeRange: TimeRange;
  limit: number;
  timeoutMs: number;
}

const READ_AT_ONCE = 100;
const RUNS_OF_EVENT_MAX = 10_000;
/** Maximum number of runs' events read together: each may have half a megabyte or more. */
const EVENTS_AT_ONCE = 25;
const PORTION_BYTES = 2 * 1_048_576;

export interface RunSearchDeps {
  /** Lists of Redis only. */
  runLists: Pick<RunLists, 'list'>;
  /** Hot and archived. */
  history: Pick<History, 'events' | 'runLists' | 'listedRuns'>;
  archive: Archive | undefined;
}

export class RunSearch extends Composed<RunSearchDeps> {
  readonly #archived = this.deps.archive && new ArchivedSearch(this.deps.archive);

  async search(query: RunSearchQuery, nowMs: number): Promise<SearchPage<Run>> {
    const { node, limit, timeoutMs } = query;
    const timeRange = narrowed(query.timeRange, requiredTimes(node, 'queued_at'));
    const narrow = narrowedTo(query);
    if (!timeRange || narrow.statuses?.length === 0) return { found: [], next: undefined };
    const { archive } = this.deps;
    const test = this.#tester(query.env, node);
    const endings = narrow.statuses?.filter(isEnding) ?? undefined;
    const isArchived = this.#archived && endings?.length !== 0;
    return mergedSearch({
      hot: this.#hot(narrow, test),
      archive: isArchived ? this.#inArchive(this.#archived, { ...narrow, endings }, test, nowMs) : undefined,
      positionOf: runPosition,
      sizeOf: ({ error }) => (error ? JSON.stringify(error).length : 0),
      timeRange,
      limit,
      archiveBorder: archive ? archiveBorder(archive, nowMs) : nowMs,
      timeoutMs,
    });
  }

  /** Runs of one event, few enough to read at once. */
  async searchOfEvent(eventId: string, query: Omit<RunSearchQuery, 'timeoutMs'>): Promise<SearchPage<Run>> {
    const { env, node, limit } = query;
    const { runs } = await this.deps.history.runLists.listByEvent(eventId, { ...query, limit: RUNS_OF_EVENT_MAX });
    const found = await this.#tester(env, node)(runs);
    const page = found.slice(0, limit);
    return { found: page, next: found.length > limit ? runPosition(page.at(-1) as Run) : undefined };
  }

  #hot({ env, functionIds, statuses }: RunSearchQuery, test: Test): SearchSource<Run> {
    const { runLists } = this.deps;
    return {
      async read(timeRange) {
        const { runs, next } = await runLists.list({ env, functionIds, statuses, timeRange, limit: READ_AT_ONCE });
        return { found: await test(runs), next };
      },
    };
  }

  #inArchive(
    archived: ArchivedSearch,
    { env, node, functionIds, endings }: RunSearchQuery & { endings: Ending['status'][] | undefined },
    test: Test,
    nowMs: number,
  ): SearchSource<Run> {
    return {
      async read({ cursor, ...range }, timeLeftMs) {
        const timeRange = { ...range, cursor: cursor as Position };
        const search = { node, functionIds, statuses: endings, timeRange, timeoutMs: timeLeftMs };
        const { runs, next } = await archived.runs(env, search, nowMs);
        return { found: await test(runs), next };
      },
    };
  }

  #tester(env: string, node: SearchNode): Test {
    const matches = matcherOf(node);
    const variables = variablesOf(node);
    const needs: Needs = {
      output: variables.has('output'),
      event: [...variables].some((variable) => variable.startsWith(EVENT_PREFIX)),
    };
    if (!needs.output && !needs.event) {
      return (runs) => matching(runs, matches, (run) => readsOfRun(run, undefined, undefined));
    }
    return (runs) => this.#testLarge(env, runs, matches, needs);
  }

  async #testLarge(env: string, runs: readonly Run[], matches: Matcher, needs: Needs): Promise<Run[]> {
    const { listedRuns, events } = this.deps.history;
    const found: Run[] = [];
    const ids = runs.map(({ id }) => id);
    const sizes = needs.output ? await listedRuns.outputSizes(env, ids) : ids.map(() => 0);
    for (let at = 0; at < runs.length; ) {
      const count = countWithin(sizes.slice(at), needs.event ? EVENTS_AT_ONCE : READ_AT_ONCE);
      const some = runs.slice(at, at + count);
      const someIds = ids.slice(at, at + count);
      const eventIds = [...new Set(some.map(({ eventId }) => eventId))];
      const [outputs, ofRuns] = await Promise.all([
        needs.output ? listedRuns.outputs(env, someIds) : [],
        needs.event ? events.readMany(env, eventIds) : [],
      ]);
      const byId = new Map<string, SearchedEvent>(ofRuns.map((event) => [event.internal_id, event]));
      found.push(
        ...(await matching(some, matches, (run, i) => readsOfRun(run, jsonOf(outputs[i]), byId.get(run.eventId)))),
      );
      at += count;
    }
    return found;
  }
}

type Test = (runs: readonly Run[]) => Promise<Run[]>;

interface Needs {
  output: boolean;
  event: boolean;
}

function narrowedTo(query: RunSearchQuery): RunSearchQuery {
  const { node, functionIds, statuses } = query;
  const functionId = requiredValue(node, 'function_id');
  const status = requiredValue(node, 'status');
  return {
    ...query,
    functionIds:
      functionId === undefined ? functionIds : (functionIds ?? [functionId]).filter((id) => id === functionId),
    statuses: status === undefined ? statuses : (statuses ?? RUN_STATUSES).filter((wanted) => wanted === status),
  };
}

/** The result is 1 at least. */
function countWithin(sizes: readonly number[], max: number): number {
  let bytes = 0;
  for (const [i, size] of sizes.slice(0, max).entries()) {
    bytes += size;
    if (bytes > PORTION_BYTES) return Math.max(1, i);
  }
  return Math.min(max, sizes.length);
}

/** An output stored before its depth was limited cannot be searched. */
function jsonOf(output: string | null | undefined): unknown {
  return tryParseShallow(output ?? '');
}
