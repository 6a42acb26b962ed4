/** Rows of runs that sleep or wait for long, which Postgres keeps until they are due. */
import { RUN_FIELDS } from '../store/keys/run-fields.ts';
import type { Position, TimeRange } from '../store/redis/pagination.ts';
import {
  type OffloadedContents,
  type OffloadedRecord,
  queuedAtOf,
  type SleepingRun,
} from '../store/runs/offloaded-run.ts';
import { Conditions } from './conditions.ts';
import { fromUuid, Repository, type Row, toText, toUuid, toUuids } from './database.ts';
import type { Numbers } from './numbers.ts';

export interface RunToOffload extends SleepingRun {
  /** Texts by event ID. */
  events: Readonly<Record<string, string>>;
}

export interface FoundContents extends OffloadedContents {
  /** Identifies the version. */
  readAt: number;
  events: Readonly<Record<string, string>>;
}

export interface Version {
  id: string;
  /** Microseconds by the clock of Redis. */
  readAt: number;
}

export interface OldRow extends Version {
  env: string;
}

const RUNS_OF_EVENTS_MAX = 10_000;
/** A run that returned a moment ago may be missing from a list of Redis that was read before. */
const JUST_RETURNED_MS = 60_000;

export class OffloadedRunRows extends Repository<{ numbers: Numbers }> {
  /** Stores the contents, and resolves when they are committed. @returns IDs of the runs whose rows now have these contents; rows of the
   *  other runs have later contents
   *  @throws ServiceError archive_unavailable */
  async store(env: string, runs: readonly RunToOffload[]): Promise<Set<string>> {
    if (runs.length === 0) return new Set();
    const envId = await this.deps.numbers.assignEnvironment(env);
    const rows = await this.database.query<{ id: string }>(
      `INSERT INTO offloaded_runs AS o (env_id, id, function_id, queued_at, event_ids, due_at, read_at, record, steps, events, contents)
       SELECT $1, id, function_id, queued_at, string_to_array(event_ids, ',')::uuid[], due_at, read_at, record, steps, events, contents
       FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[],
         $11::bytea[]) AS t (id, function_id, queued_at, event_ids, due_at, read_at, record, steps, events, contents)
       ORDER BY id
       ON CONFLICT (env_id, id) DO UPDATE SET event_ids = EXCLUDED.event_ids, due_at = EXCLUDED.due_at, read_at = EXCLUDED.read_at,
         returned_at = NULL, record = EXCLUDED.record, steps = EXCLUDED.steps, events = EXCLUDED.events, contents = EXCLUDED.contents
       WHERE o.read_at < EXCLUDED.read_at
       RETURNING id`,
      [
        envId,
        runs.map(({ id }) => toUuid(id)),
        runs.map(({ fields }) => toText(fields[RUN_FIELDS.functionId] as string)),
        runs.map(queuedAtOf),
        runs.map(({ eventIds }) => toUuids(eventIds).join(',')),
        runs.map(({ dueAt }) => Math.floor(dueAt)),
        runs.map(({ readAt }) => readAt),
        runs.map(({ fields }) => JSON.stringify(fields)),
        runs.map(({ steps }) => JSON.stringify(steps)),
        runs.map(({ events }) => JSON.stringify(events)),
        runs.map(({ contents }) => contents),
      ],
    );
    return new Set(rows.map(({ id }) => fromUuid(id)));
  }

  /** Fields that lists show, by run ID.
   *  @throws ServiceError archive_unavailable */
  async records(env: string, ids: readonly string[]): Promise<Map<string, OffloadedRecord>> {
    const rows = await this.#read<{ id: string; record: string; steps: string }>(env, ids, 'record, steps');
    return new Map(rows.map(({ id, record, steps }) => [id, { fields: JSON.parse(record), steps: JSON.parse(steps) }]));
  }

  /** Contents of offloaded runs, by run ID.
   *  @throws ServiceError archive_unavailable */
  async contents(env: string, ids: readonly string[]): Promise<Map<string, FoundContents>> {
    const rows = await this.#read<{ id: string; read_at: number; record: string; events: string; contents: Buffer }>(
      env,
      ids,
      'read_at, record, events, contents',
    );
    return new Map(
      rows.map(({ id, read_at, record, events, contents }) => [
        id,
        { readAt: read_at, fields: JSON.parse(record), events: JSON.parse(events), contents },
      ]),
    );
  }

  /** The next entries, newest first. Includes runs that have just returned.
   *  @param functionIds undefined: all functions
   *  @throws ServiceError archive_unavailable */
  async newest(
    env: string,
    functionIds: readonly string[] | undefined,
    { after, before, cursor }: TimeRange,
    limit: number,
  ): Promise<Position[]> {
    const envId = await this.deps.numbers.environment(env);
    if (envId === undefined) return [];
    const all = new Conditions().add('env_id = ?', envId);
    // With a single function, the index has the list's order.
    if (functionIds?.length === 1) all.add('function_id = ?', toText(functionIds[0] as string));
    else if (functionIds) all.add('function_id = ANY(?)', functionIds.map(toText));
    if (after !== undefined) all.add('queued_at >= ?', Math.ceil(after));
    if (before !== undefined) all.add('queued_at < ?', Math.ceil(before));
    if (cursor) all.add('(queued_at, id) < (?, ?)', cursor.at, toUuid(cursor.id));
    const since = all.value(Date.now() - JUST_RETURNED_MS);
    const order = `ORDER BY queued_at DESC, id DESC LIMIT ${all.value(limit)}`;
    const text = `SELECT * FROM (
        (SELECT id, queued_at FROM offloaded_runs WHERE ${all.sql} AND returned_at IS NULL ${order})
        UNION ALL
        (SELECT id, queued_at FROM offloaded_runs WHERE ${all.sql} AND returned_at > ${since} ${order})
      ) AS found ${order}`;
    const rows = await this.database.query<{ id: string; queued_at: number }>(text, all.values);
    return rows.map(({ id, queued_at }) => ({ id: fromUuid(id), at: queued_at }));
  }

  /** IDs of the runs that have any of these events; the runs may have returned to Redis.
   *  @throws ServiceError archive_unavailable */
  async ofEvents(env: string, eventIds: readonly string[]): Promise<{ id: string; eventIds: string[] }[]> {
    const envId = await this.deps.numbers.environment(env);
    const uuids = toUuids(eventIds);
    if (envId === undefined || uuids.length === 0) return [];
    const rows = await this.database.query<{ id: string; event_ids: string[] }>(
      `SELECT id, event_ids::text[] FROM offloaded_runs WHERE event_ids && $1::uuid[] AND env_id = $2 LIMIT ${RUNS_OF_EVENTS_MAX}`,
      [uuids, envId],
    );
    return rows.map(({ id, event_ids }) => ({ id: fromUuid(id), eventIds: event_ids.map(fromUuid) }));
  }

  /** Records that Redis has these versions again, or that the runs are gone. Their rows stay for a while, in case a failover of Redis loses
   *  the return.
   *  @throws ServiceError archive_unavailable */
  markReturned(env: string, rows: readonly Version[], nowMs: number): Promise<void> {
    return this.#setReturned(env, rows, nowMs);
  }

  /** Records that Redis has lost the return of these versions.
   *  @throws ServiceError archive_unavailable */
  markOffloaded(env: string, rows: readonly Version[]): Promise<void> {
    return this.#setReturned(env, rows, null);
  }

  async #setReturned(env: string, rows: readonly Version[], at: number | null): Promise<void> {
    const envId = await this.deps.numbers.environment(env);
    if (envId === undefined || rows.length === 0) return;
    await this.database.query(
      `UPDATE offloaded_runs o SET returned_at = $4 FROM unnest($2::uuid[], $3::bigint[]) AS t (id, read_at)
       WHERE o.env_id = $1 AND o.id = t.id AND o.read_at = t.read_at`,
      [envId, rows.map(({ id }) => toUuid(id)), rows.map(({ readAt }) => readAt), at],
    );
  }

  /** Rows of runs that returned at this time or later, in that order. */
  async returnedSince(sinceMs: number, limit: number): Promise<(OldRow & { returnedAt: number })[]> {
    const rows = await this.database.query<{ env: string; id: string; read_at: number; returned_at: number }>(
      `SELECT e.name AS env, o.id, o.read_at, o.returned_at FROM offloaded_runs o JOIN environments e ON e.id = o.env_id
       WHERE e.deleted_at IS NULL AND o.returned_at >= $1 ORDER BY o.returned_at LIMIT $2`,
      [sinceMs, limit],
    );
    return rows.map((row) => ({
      env: row.env,
      id: fromUuid(row.id),
      readAt: row.read_at,
      returnedAt: row.returned_at,
    }));
  }

  /** Rows of runs that returned, or should have, before these times. */
  async old(returnedBefore: number, dueBefore: number, limit: number): Promise<OldRow[]> {
    const rows = await this.database.query<{ env: string; id: string; read_at: number }>(
      `SELECT e.name AS env, o.id, o.read_at FROM offloaded_runs o JOIN environments e ON e.id = o.env_id
       WHERE e.deleted_at IS NULL AND (o.returned_at < $1 OR o.due_at < $2) LIMIT $3`,
      [returnedBefore, dueBefore, limit],
    );
    return rows.map(({ env, id, read_at }) => ({ env, id: fromUuid(id), readAt: read_at }));
  }

  /** Removes these versions. */
  async remove(env: string, rows: readonly Version[]): Promise<void> {
    const envId = await this.deps.numbers.environment(env);
    if (envId === undefined || rows.length === 0) return;
    await this.database.query(
      `DELETE FROM offloaded_runs o USING unnest($2::uuid[], $3::bigint[]) AS t (id, read_at)
       WHERE o.env_id = $1 AND o.id = t.id AND o.read_at = t.read_at`,
      [envId, rows.map(({ id }) => toUuid(id)), rows.map(({ readAt }) => readAt)],
    );
  }

  async #read<R extends Row & { id: string }>(env: string, ids: readonly string[], columns: string): Promise<R[]> {
    const envId = await this.deps.numbers.environment(env);
    const uuids = toUuids(ids);
    if (envId === undefined || uuids.length === 0) return [];
    const text = `SELECT id, ${columns} FROM offloaded_runs WHERE env_id = $1 AND id = ANY($2)`;
    const rows = await this.database.query<R>(text, [envId, uuids]);
    return rows.map((row) => ({ ...row, id: fromUuid(row.id) }));
  }
}
