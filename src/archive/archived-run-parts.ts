/** Parts of archived runs: steps, history, metadata and logs, unchanged from Redis. */
import type { KeptPart } from '../store/keys/runs.ts';
import { changeMetadata, type MetadataChange } from '../store/runs/metadata-fields.ts';
import type { ArchivedPart } from '../store/runs/run-parts.ts';
import type { ArchivedRunRows } from './archived-run-rows.ts';
import { codeOf, Repository, toUuid } from './database.ts';

/** Postgres cannot convert the JSON escape of U+0000 to text. */
const UNTRANSLATABLE = '22P05';

export class ArchivedRunParts extends Repository<{ rows: ArchivedRunRows }> {
  /** undefined: the run is not archived, or does not have the part. */
  async find<Part extends KeptPart>(env: string, id: string, part: Part): Promise<ArchivedPart<Part> | undefined> {
    return (await this.findMany(env, id, part))?.[part];
  }

  /** undefined: the run is not archived. */
  async findMany<Part extends KeptPart>(env: string, id: string, ...parts: Part[]) {
    const row = await this.deps.rows.readOne<Record<string, string | null>>(env, id, parts.join(', '));
    if (!row) return undefined;
    const found = parts.flatMap((part) => (row[part] ? [[part, JSON.parse(row[part])]] : []));
    return Object.fromEntries(found) as { [P in Part]?: ArchivedPart<P> };
  }

  /** The memo of one step as JSON text. Postgres extracts it from all memos, which may have 32 MiB. */
  async memo(env: string, id: string, stepId: string): Promise<string | undefined> {
    // No stored step has an ID like this, because Redis would store it as another ID.
    if (stepId.includes('\0') || !stepId.isWellFormed()) return this.#amongMemos(env, id, stepId);
    try {
      const row = await this.deps.rows.readOne<{ memo: string | null }>(
        env,
        id,
        'memos::json ->> $5::text AS memo',
        stepId,
      );
      return row?.memo ?? undefined;
    } catch (error) {
      if (codeOf(error) !== UNTRANSLATABLE) throw error;
      return this.#amongMemos(env, id, stepId);
    }
  }

  async #amongMemos(env: string, id: string, stepId: string): Promise<string | undefined> {
    const memos = (await this.find(env, id, 'memos')) ?? {};
    return Object.hasOwn(memos, stepId) ? memos[stepId] : undefined;
  }

  /** @returns 'full': the run would have too much metadata, and nothing changed; 'gone': it is not archived */
  async changeMetadata(env: string, id: string, change: MetadataChange): Promise<'stored' | 'full' | 'gone'> {
    const place = await this.deps.rows.readOne<{ at: number; env_id: number }>(env, id, 'at, env_id');
    if (!place) return 'gone';
    const key = [toUuid(id), place.at, place.env_id];
    const where = 'WHERE id = $1 AND at = $2 AND env_id = $3';
    return this.database.transaction(async (client) => {
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
