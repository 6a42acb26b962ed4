/** What archived runs have beside their records: steps, history, metadata and logs. All of it is as Redis had it. */
import type { RunLog } from '../model/runs/log-lines.ts';
import type { HistoryEntry } from '../model/runs/run.ts';
import { changeMetadata, type MetadataChange } from '../store/runs/metadata-fields.ts';
import { type StoredRunLog, toRunLog } from '../store/runs/run-log-fields.ts';
import { toHistory } from '../store/runs/run-record.ts';
import type { ArchivedRunRows } from './archived-run-rows.ts';
import { codeOf, type Database } from './database.ts';
import { toUuid } from './encoding.ts';

/** Postgres cannot make a text of an escape in JSON: of U+0000. */
const UNTRANSLATABLE = '22P05';

export class ArchivedRunParts {
  readonly #database: Database;
  readonly #rows: ArchivedRunRows;

  constructor(database: Database, rows: ArchivedRunRows) {
    this.#database = database;
    this.#rows = rows;
  }

  /** Attempts and steps in the order they ended; undefined: the run is not archived. */
  async history(env: string, id: string): Promise<HistoryEntry[] | undefined> {
    const row = await this.#rows.readOne<{ history: string | null }>(env, id, 'history');
    return row && toHistory(JSON.parse(row.history ?? '[]') as string[]);
  }

  /** The memo of one step as JSON text. Postgres takes it out of all of them, which may be 32 MiB. */
  async memo(env: string, id: string, stepId: string): Promise<string | undefined> {
    // No stored step has such an ID: in Redis it would be another one.
    if (stepId.includes('\0') || !stepId.isWellFormed()) return (await this.memos(env, id))?.[stepId];
    try {
      const row = await this.#rows.readOne<{ memo: string | null }>(
        env,
        id,
        'memos::json ->> $5::text AS memo',
        stepId,
      );
      return row?.memo ?? undefined;
    } catch (error) {
      if (codeOf(error) !== UNTRANSLATABLE) throw error;
      return (await this.memos(env, id))?.[stepId];
    }
  }

  /** JSON texts by hashed step ID; undefined: the run is not archived. */
  async memos(env: string, id: string): Promise<Record<string, string> | undefined> {
    const row = await this.#rows.readOne<{ memos: string | null }>(env, id, 'memos');
    return row && (JSON.parse(row.memos ?? '{}') as Record<string, string>);
  }

  /** Hashed IDs of the finished steps, in the order of completion; undefined: the run is not archived. */
  async stack(env: string, id: string): Promise<string[] | undefined> {
    const row = await this.#rows.readOne<{ stack: string | null }>(env, id, 'stack');
    return row && (JSON.parse(row.stack ?? '[]') as string[]);
  }

  /** Fields as Redis had them; undefined: the run is not archived. */
  async metadata(env: string, id: string): Promise<Record<string, string> | undefined> {
    const row = await this.#rows.readOne<{ metadata: string | null }>(env, id, 'metadata');
    return row && (JSON.parse(row.metadata ?? '{}') as Record<string, string>);
  }

  /** undefined: the run is not archived, or has no log. */
  async logs(env: string, id: string): Promise<RunLog | undefined> {
    const row = await this.#rows.readOne<{ logs: string | null }>(env, id, 'logs');
    return row?.logs ? toRunLog(JSON.parse(row.logs) as StoredRunLog) : undefined;
  }

  /** @returns 'full': the run would have too much metadata, and nothing changed; 'gone': it is not archived */
  async changeMetadata(env: string, id: string, change: MetadataChange): Promise<'stored' | 'full' | 'gone'> {
    const place = await this.#rows.readOne<{ at: number; env_id: number }>(env, id, 'at, env_id');
    if (!place) return 'gone';
    const key = [toUuid(id), place.at, place.env_id];
    const where = 'WHERE id = $1 AND at = $2 AND env_id = $3';
    return this.#database.transaction(async (client) => {
      const { rows } = await client.query<{ metadata: string | null }>(
        `SELECT metadata FROM runs ${where} FOR UPDATE`,
        key,
      );
      const [row] = rows;
      if (!row) return 'gone';
      const changed = changeMetadata(JSON.parse(row.metadata ?? '{}') as Record<string, string>, change);
      if (changed === 'full') return changed;
      await client.query(`UPDATE runs SET metadata = $4 ${where}`, [...key, JSON.stringify(changed)]);
      return 'stored';
    });
  }
}
