/** Lists of runs, newest first. Each run is in one index of its function: of active runs, or of runs with its ending. A list of some
 *  functions merges several indexes. For the list of all functions, each run is also among the environment's active runs or in a segment
 *  of its ended runs. */
import { isArchiveUnavailable } from '../../errors.ts';
import { groupOf, RUN_GROUPS, type Run, type RunGroup, type RunStatus } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import {
  firstOf,
  isOlder,
  mergeNewest,
  newest,
  newestAtOnce,
  type Position,
  type TimeRange,
} from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';
import type { EndedRunIndex } from './ended-run-index.ts';
import { runsOfEvents } from './event-runs.ts';
import { ListedRuns } from './listed-runs.ts';
import type { OffloadedRecord } from './offloaded-run.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';

export interface RunQuery {
  env: string;
  /** undefined: all functions. */
  functionIds: readonly string[] | undefined;
  status?: RunStatus | undefined;
  /** Any of these statuses, instead of `status`. */
  statuses?: readonly RunStatus[] | undefined;
  /** Only paused runs. */
  isPaused?: boolean | undefined;
  timeRange: TimeRange;
  limit: number;
}

export type RunBrief = Pick<Run, 'id' | 'functionId' | 'status'>;

export interface RunPage {
  runs: Run[];
  /** Whether runs that sleep in Postgres are missing, because it is down. */
  stoppedEarly?: 'archive_unavailable';
  /** Cursor of the next page; undefined on the last page. */
  next: Position | undefined;
}

/** Maximum reads per page: runs of an index may have expired or have another status. A page may therefore be short and still have a next
 *  page. */
const MAX_READS = 20;

export class RunLists extends Repository<ScriptedRedis, { endedRuns: EndedRunIndex; offloadedRuns: OffloadedRuns }> {
  /** Reads the runs of a list. */
  readonly listed = new ListedRuns(this.redis, this.keys, this.deps);

  async list(query: RunQuery): Promise<RunPage> {
    try {
      return await this.#list(query, 'throw');
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      return { ...(await this.#list(query, 'omit')), stoppedEarly: 'archive_unavailable' };
    }
  }

  async #list(query: RunQuery, whenUnavailable: 'throw' | 'omit'): Promise<RunPage> {
    const { env, timeRange, limit } = query;
    const statuses = statusesOf(query);
    const runs: Run[] = [];
    let cursor = timeRange.cursor;
    for (let reading = 0; reading < MAX_READS; reading++) {
      const positions = await this.#newest({ ...query, timeRange: { ...timeRange, cursor } }, whenUnavailable);
      const read = await this.listed.read(
        env,
        positions.map(({ id }) => id),
        whenUnavailable,
      );
      runs.push(...read.filter((run) => isListed(run, query, statuses)));
      if (runs.length > limit || (runs.length === limit && positions.length === limit)) {
        const page = runs.slice(0, limit);
        return { runs: page, next: runPosition(page.at(-1) as Run) };
      }
      if (positions.length < limit) return { runs, next: undefined };
      cursor = positions.at(-1);
    }
    return { runs, next: cursor };
  }

  async #newest(query: RunQuery, whenUnavailable: 'throw' | 'omit'): Promise<Position[]> {
    const { env, functionIds, isPaused, timeRange, limit } = query;
    if (isPaused) {
      const indexes = this.keys.all().map((keys) => keys.pausedRuns(env));
      return newest(this.redis, indexes, timeRange, limit);
    }
    const statuses = statusesOf(query);
    const groups = statuses ? [...new Set(statuses.map(groupOf))] : RUN_GROUPS;
    const readOffloaded = () => this.#newestOffloaded(query, groups, whenUnavailable);
    if (!functionIds) return this.#newestOfAll(env, groups, timeRange, limit, readOffloaded);
    const lists = this.keys.all().map((keys) => {
      const indexes = functionIds.flatMap((id) => groups.map((group) => keys.runIndex(env, group, id)));
      return (wanted: number, cursor: Position | undefined) =>
        newestAtOnce(this.redis, indexes, { ...timeRange, cursor }, wanted);
    });
    const hot = await mergeNewest(lists, timeRange.cursor, limit);
    return firstOf([...hot, ...(await readOffloaded())], limit);
  }

  /** Call after the lists of Redis are read: a run leaves them only once it is in Postgres, and a run that has just returned is still found
   *  here. */
  async #newestOffloaded(
    { env, functionIds, timeRange, limit }: RunQuery,
    groups: readonly RunGroup[],
    whenUnavailable: 'throw' | 'omit',
  ): Promise<Position[]> {
    if (!groups.includes('active')) return [];
    try {
      return await this.deps.offloadedRuns.newest(env, functionIds, timeRange, limit);
    } catch (error) {
      if (isArchiveUnavailable(error) && whenUnavailable === 'omit') return [];
      throw error;
    }
  }

  /** Reads active runs first: a run that ends meanwhile may be found twice, but is never missed. If they fill the page, older runs are
   *  not read. */
  async #newestOfAll(
    env: string,
    groups: readonly RunGroup[],
    timeRange: TimeRange,
    limit: number,
    readOffloaded: () => Promise<Position[]>,
  ): Promise<Position[]> {
    const hot = groups.includes('active')
      ? await newest(
          this.redis,
          this.keys.all().map((keys) => keys.activeRunsIn(env)),
          timeRange,
          limit,
        )
      : [];
    const active = firstOf([...hot, ...(await readOffloaded())], limit);
    const endings = groups.filter((group) => group !== 'active');
    const last = active[limit - 1];
    const rest = last ? { ...timeRange, after: last.at } : timeRange;
    const ended = await Promise.all(
      endings.map((ending) => this.deps.endedRuns.newest({ env, ending, timeRange: rest, limit })),
    );
    return firstOf([...active, ...ended.flat()], limit);
  }

  /** The active runs of a function, newest first.
   *  @throws ServiceError archive_unavailable if some are offloaded */
  async activeOf(env: string, functionId: string, timeRange: TimeRange, limit: number): Promise<Position[]> {
    const indexes = this.keys.all().map((keys) => keys.runIndex(env, 'active', functionId));
    const hot = await newest(this.redis, indexes, timeRange, limit);
    return firstOf([...hot, ...(await this.deps.offloadedRuns.newest(env, [functionId], timeRange, limit))], limit);
  }

  /** The next active runs of a function in one partition, without offloaded ones. */
  activeIn(
    partition: number,
    env: string,
    functionId: string,
    cursor: Position | undefined,
    limit: number,
  ): Promise<Position[]> {
    return newest(this.redis, [this.keys.partition(partition).runIndex(env, 'active', functionId)], { cursor }, limit);
  }

  /** The next offloaded runs of a function; `ids`: runs in one partition.
   *  @throws ServiceError archive_unavailable */
  async offloadedIn(
    partition: number,
    env: string,
    functionId: string,
    cursor: Position | undefined,
    limit: number,
  ): Promise<{ found: Position[]; ids: string[] }> {
    const found = await this.deps.offloadedRuns.newest(env, [functionId], { cursor }, limit);
    const keys = this.keys.partition(partition);
    return { found, ids: found.filter(({ id }) => this.keys.of(id) === keys).map(({ id }) => id) };
  }

  /** Runs of each event with their status, in the order of creation; events in the order of the IDs. */
  async briefsByEvent(env: string, eventIds: readonly string[]): Promise<RunBrief[][]> {
    if (eventIds.length === 0) return [];
    const listed = await runsOfEvents(this.redis, this.keys, env, eventIds);
    const commands = listed.flat().map((id) => {
      return ['hmget', this.keys.of(id).run(env, id), RUN_FIELDS.functionId, RUN_FIELDS.status];
    });
    const read = await inPipelines<[string | null, string | null]>(this.redis, commands);
    const fields = read.values();
    const missing = listed.flat().filter((_, i) => !read[i]?.[1]);
    // Without Postgres, lists of events have what Redis has.
    const offloaded = await this.deps.offloadedRuns.records(env, missing).catch((error) => {
      if (isArchiveUnavailable(error)) return new Map<string, OffloadedRecord>();
      throw error;
    });
    return listed.map((ids) =>
      ids.flatMap((id) => {
        const [ownFunctionId, ownStatus] = fields.next().value ?? [];
        const { fields: others = {} } = offloaded.get(id) ?? {};
        const functionId = ownFunctionId ?? others[RUN_FIELDS.functionId];
        const status = ownStatus ?? others[RUN_FIELDS.status];
        return functionId && status ? [{ id, functionId, status: status as RunStatus }] : [];
      }),
    );
  }

  /** Runs of an event, in the order of creation. */
  async readByEvent(env: string, eventId: string, whenUnavailable: 'throw' | 'omit' = 'throw'): Promise<Run[]> {
    const [ids = []] = await runsOfEvents(this.redis, this.keys, env, [eventId]);
    return this.listed.read(env, ids, whenUnavailable);
  }

  /** Runs of one event, few enough to read at once. */
  async listByEvent(eventId: string, query: RunQuery): Promise<RunPage> {
    return pageOfRuns(await this.readByEvent(query.env, eventId, 'omit'), query);
  }
}

/** A page of a list that is entirely in memory. */
export function pageOfRuns(all: readonly Run[], query: RunQuery): RunPage {
  const { functionIds, timeRange, limit } = query;
  const statuses = statusesOf(query);
  const listed = functionIds && new Set(functionIds);
  const { after = 0, before = Number.POSITIVE_INFINITY, cursor } = timeRange;
  const runs = all
    .filter((run) => (!listed || listed.has(run.functionId)) && (!statuses || statuses.includes(run.status)))
    .filter((run) => run.queuedAt >= after && run.queuedAt < before && (!cursor || isOlder(runPosition(run), cursor)))
    .sort((a, b) => (isOlder(runPosition(a), runPosition(b)) ? 1 : -1));
  const page = runs.slice(0, limit);
  return { runs: page, next: runs.length > limit ? runPosition(page.at(-1) as Run) : undefined };
}

/** Whether the list has the run: the index of paused runs covers all functions, and any index may have runs that have just changed. */
function isListed(run: Run, { functionIds, isPaused }: RunQuery, statuses: readonly RunStatus[] | undefined): boolean {
  if (statuses && !statuses.includes(run.status)) return false;
  return !isPaused || (run.pause !== undefined && (!functionIds || functionIds.includes(run.functionId)));
}

/** undefined: all statuses. */
export function statusesOf({ status, statuses }: RunQuery): readonly RunStatus[] | undefined {
  return statuses ?? (status && [status]);
}

export function runPosition({ queuedAt, id }: Run): Position {
  return { at: queuedAt, id };
}
