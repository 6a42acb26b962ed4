/** Runs that sleep or wait for long, as Postgres has them until they are due. */
import type { OffloadedContents, OffloadedRecord, SleepingRun } from '../store/runs/offloaded-runs.ts';
import type { Row } from './database.ts';
import { fromUuid, toUuid, toUuids } from './encoding.ts';
import type { Numbers } from './numbers.ts';
import { Repository } from './repository.ts';

export interface RunToOffload extends SleepingRun {
  /** Texts by event ID. */
  events: Readonly<Record<string, string>>;
}

export interface FoundContents extends OffloadedContents {
  events: Readonly<Record<string, string>>;
}

/** A row that is perhaps no longer needed. */
export interface OldRow {
  env: string;
  id: string;
  /** Identifies the version. */
  readAt: number;
}

const OF_EVENTS_MAX = 10_000;

export class OffloadedRunRows extends Repository<{ numbers: Numbers }> {
  /** Resolves when the contents are committed. @returns IDs of the runs whose rows now have these contents; rows of the other runs have later
   *  contents
   *  @throws ServiceError archive_unavailable */
  async store(env: string, runs: readonly RunToOffload[]): Promise<Set<string>> {
    if (runs.length === 0) return new Set();
    const envId = await this.deps.numbers.assignEnvironment(env);
    const rows = await this.database.query<{ id: string }>(
      `INSERT INTO offloaded_runs AS o (env_id, id, event_ids, due_at, read_at, record, steps, events, contents)
       SELECT $1, id, string_to_array(event_ids, ',')::uuid[], due_at, read_at, record, steps, events, contents
       FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::bytea[])
         AS t (id, event_ids, due_at, read_at, record, steps, events, contents)
       ORDER BY id
       ON CONFLICT (env_id, id) DO UPDATE SET event_ids = EXCLUDED.event_ids, due_at = EXCLUDED.due_at, read_at = EXCLUDED.read_at,
         returned_at = NULL, record = EXCLUDED.record, steps = EXCLUDED.steps, events = EXCLUDED.events, contents = EXCLUDED.contents
       WHERE o.read_at < EXCLUDED.read_at
       RETURNING id`,
      [
        envId,
        runs.map(({ id }) => toUuid(id)),
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
    const rows = await this.#read<{ id: string; record: string; events: string; contents: Buffer }>(
      env,
      ids,
      'record, events, contents',
    );
    return new Map(
      rows.map(({ id, record, events, contents }) => [
        id,
        { fields: JSON.parse(record), events: JSON.parse(events), contents },
      ]),
    );
  }

  /** IDs of the runs that have any of these events; the runs may have returned to Redis.
   *  @throws ServiceError archive_unavailable */
  async ofEvents(env: string, eventIds: readonly string[]): Promise<{ id: string; eventIds: string[] }[]> {
    const envId = await this.deps.numbers.environment(env);
    const uuids = toUuids(eventIds);
    if (envId === undefined || uuids.length === 0) return [];
    const rows = await this.database.query<{ id: string; event_ids: string[] }>(
      `SELECT id, event_ids::text[] FROM offloaded_runs WHERE event_ids && $1::uuid[] AND env_id = $2 LIMIT ${OF_EVENTS_MAX}`,
      [uuids, envId],
    );
    return rows.map(({ id, event_ids }) => ({ id: fromUuid(id), eventIds: event_ids.map(fromUuid) }));
  }

  /** Records that Redis has them again. Their rows stay for a while, in case a failover of Redis loses them.
   *  @throws ServiceError archive_unavailable */
  async markReturned(env: string, ids: readonly string[], nowMs: number): Promise<void> {
    const envId = await this.deps.numbers.environment(env);
    if (envId === undefined || ids.length === 0) return;
    const text = 'UPDATE offloaded_runs SET returned_at = $3 WHERE env_id = $1 AND id = ANY($2)';
    await this.database.query(text, [envId, toUuids(ids), nowMs]);
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
  async remove(env: string, rows: readonly OldRow[]): Promise<void> {
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
