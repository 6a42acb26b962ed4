/** Archived ended runs: by ID, by event, and as lists. Runs older than the retention of their environment are hidden, even if their day
 *  is still stored. */
import type { Ending, Run } from '../model/runs/run.ts';
import type { Interval } from '../model/values/time.ts';
import { isOlder, type Position, type TimeRange } from '../store/redis/pagination.ts';
import type { RunBrief } from '../store/runs/run-lists.ts';
import type { ArchivedRunRows } from './archived-run-rows.ts';
import type { ArchivedScopes, Scope } from './archived-scopes.ts';
import { Conditions } from './conditions.ts';
import { fromUuid, isTimeout, Repository, type Row, toUuid, toUuids } from './database.ts';
import type { Numbers } from './numbers.ts';
import { STATUS_NUMBERS } from './rows.ts';
import { listedRunOfRow, runOfRow } from './run-row.ts';
import { windowsBetween } from './time-windows.ts';

/** Maximum number of runs per lookup by events. */
const RUNS_OF_EVENTS_MAX = 10_000;
const PAGE_TIMEOUT_MS = 5_000;
/** Sorts before all IDs. */
const SMALLEST_ID = '0'.repeat(26);

export interface ArchivedRunQuery {
  /** Columns are those of the table `runs`. */
  conditions?: Conditions | undefined;
  /** undefined: all functions. */
  functionIds?: readonly string[] | undefined;
  /** undefined: all. */
  statuses?: readonly Ending['status'][] | undefined;
  /** Time range of creation. */
  timeRange: TimeRange;
  limit: number;
  /** Time limit of the whole page. */
  timeoutMs?: number | undefined;
}

export interface ArchivedRunPage {
  /** Rows without outputs and step inputs. */
  runs: Run[];
  /** Cursor of the next page; undefined on the last page. */
  next: Position | undefined;
  /** Set if the time limit was reached before the page was full. */
  stoppedEarly?: 'time';
}

type ListedRow = Row & { id: string; record: string };
type StoredRow = ListedRow & { output: string | null };
type EventRunRow = ListedRow & { event_id: string; batch: string[] | null };

export class ArchivedRuns extends Repository<{ numbers: Numbers; scopes: ArchivedScopes; rows: ArchivedRunRows }> {
  /** Rows with outputs, in the order of the IDs; unarchived runs are omitted. */
  async readMany(env: string, ids: readonly string[]): Promise<Run[]> {
    const rows = await this.deps.rows.read<StoredRow>(env, ids, 'record, output');
    return ids.flatMap((id) => {
      const row = rows.get(id);
      return row ? [runOfRow(env, id, row)] : [];
    });
  }

  async present(env: string, ids: readonly string[]): Promise<Set<string>> {
    return new Set((await this.deps.rows.read(env, ids, 'at')).keys());
  }

  /** Bytes by ID; 0: no output. */
  async outputSizes(env: string, ids: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.deps.rows.read<{ size: number | null }>(env, ids, 'octet_length(output) AS size');
    return new Map([...rows].map(([id, { size }]) => [id, size ?? 0]));
  }

  /** JSON texts by ID; null: no output. */
  async outputs(env: string, ids: readonly string[]): Promise<Map<string, string | null>> {
    const rows = await this.deps.rows.read<{ output: string | null }>(env, ids, 'output');
    return new Map([...rows].map(([id, { output }]) => [id, output]));
  }

  /** Newest first, by creation, then by ID. */
  async page(env: string, query: ArchivedRunQuery): Promise<ArchivedRunPage> {
    const scope = await this.deps.scopes.of(env);
    const conditions = scope && (await this.#conditionsOf(scope, query));
    if (!scope || !conditions) return { runs: [], next: undefined };
    const { timeRange, limit, timeoutMs = PAGE_TIMEOUT_MS } = query;
    const { after = 0, before = Number.POSITIVE_INFINITY, cursor } = timeRange;
    const from = Math.ceil(Math.max(after, scope.since));
    const to = Math.ceil(Math.min(before, (cursor?.at ?? scope.now) + 1, scope.now + 1));
    const until = performance.now() + timeoutMs;
    const runs: Run[] = [];
    for (const window of windowsBetween(from, to)) {
      const leftMs = until - performance.now();
      const rows = leftMs > 0 ? await this.#readWindow(conditions, window, limit + 1 - runs.length, leftMs) : undefined;
      if (!rows) return { runs, next: resumeAt(window, cursor), stoppedEarly: 'time' };
      runs.push(...rows.map((row) => listedRunOfRow(env, fromUuid(row.id), row)));
      if (runs.length > limit) {
        const page = runs.slice(0, limit);
        const { queuedAt, id } = page.at(-1) as Run;
        return { runs: page, next: { at: queuedAt, id } };
      }
    }
    return { runs, next: undefined };
  }

  /** Runs of each event with their status, in the order of creation; events in the order of the IDs. */
  async briefsByEvent(env: string, eventIds: readonly string[]): Promise<RunBrief[][]> {
    const runs = await this.#byEvents(env, eventIds);
    return eventIds.map((eventId) => {
      return (runs.get(eventId) ?? []).map(({ id, functionId, status }) => ({ id, functionId, status }));
    });
  }

  /** Runs of an event without their outputs, in the order of creation. */
  async readByEvent(env: string, eventId: string): Promise<Run[]> {
    return (await this.#byEvents(env, [eventId])).get(eventId) ?? [];
  }

  /** Searches all days: an event may be re-run at any time, and its ID may have any time. */
  async #byEvents(env: string, eventIds: readonly string[]): Promise<Map<string, Run[]>> {
    const found = new Map<string, Run[]>(eventIds.map((id) => [id, []]));
    const uuids = toUuids(eventIds);
    const scope = uuids.length === 0 ? undefined : await this.deps.scopes.of(env);
    if (!scope) return found;
    const rows = await this.database.query<EventRunRow>(
      `SELECT id, event_id, batch, record FROM runs
       WHERE (event_id = ANY($1) OR batch && $1::uuid[]) AND env_id = $2 AND at >= $3
       ORDER BY at, id LIMIT ${RUNS_OF_EVENTS_MAX}`,
      [uuids, scope.envId, scope.since],
    );
    for (const row of rows) {
      const run = listedRunOfRow(env, fromUuid(row.id), row);
      for (const eventId of run.batch ?? [run.eventId]) found.get(eventId)?.push(run);
    }
    return found;
  }

  /** undefined if no run can meet the conditions. */
  async #conditionsOf(
    scope: Scope,
    { conditions, functionIds, statuses, timeRange: { cursor } }: ArchivedRunQuery,
  ): Promise<Conditions | undefined> {
    const all = await conditionsOnFunctions(this.deps.numbers, scope, functionIds, conditions);
    if (!all) return undefined;
    if (statuses) {
      const [only, ...others] = statuses.map((status) => STATUS_NUMBERS[status]);
      if (only === undefined) return undefined;
      if (others.length === 0) all.add('status = ?', only);
      else all.add('status = ANY(?)', [only, ...others]);
    }
    if (cursor) all.add('(at, id) < (?, ?)', cursor.at, toUuid(cursor.id));
    return all;
  }

  /** @returns undefined on timeout */
  async #readWindow(
    conditions: Conditions,
    { from, to }: Interval,
    limit: number,
    timeoutMs: number,
  ): Promise<ListedRow[] | undefined> {
    const all = conditions.copy().add('at >= ? AND at < ?', from, to);
    const text = `SELECT id, record FROM runs WHERE ${all.sql} ORDER BY at DESC, id DESC LIMIT ${all.value(limit)}`;
    try {
      return await this.database.queryWithin<ListedRow>(timeoutMs, text, all.values);
    } catch (error) {
      if (isTimeout(error)) return undefined;
      throw error;
    }
  }
}

/** @param functionIds undefined: all of the environment
 *  @returns undefined if no archived run can meet the conditions */
export async function conditionsOnFunctions(
  numbers: Numbers,
  { envId }: Scope,
  functionIds: readonly string[] | undefined,
  others = new Conditions(),
): Promise<Conditions | undefined> {
  const all = others.copy();
  if (!functionIds) return all.add('env_id = ?', envId);
  const found = [...(await numbers.ofMany('functions', envId, functionIds)).values()];
  if (found.length === 0) return undefined;
  // For a single function, the index has the order of lists.
  return found.length === 1 ? all.add('function_id = ?', found[0]) : all.add('function_id = ANY(?)', found);
}

/** The position before everything in the window. */
function resumeAt({ to }: Interval, cursor: Position | undefined): Position {
  const start = { at: to, id: SMALLEST_ID };
  return cursor && isOlder(cursor, start) ? cursor : start;
}
