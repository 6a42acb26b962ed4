/** Rows of archived runs by ID. */
import { timeOf } from '../model/ids.ts';
import { DAY_MS, type Interval } from '../model/values/time.ts';
import type { ArchivedScopes } from './archived-scopes.ts';
import { fromUuid, Repository, type Row, toUuids } from './database.ts';

/** The creation of a run is rarely further from the time in its ID, which is the time of its event. */
const BEFORE_ID_MS = DAY_MS;
const AFTER_ID_MS = 2 * DAY_MS;

export class ArchivedRunRows extends Repository<{ scopes: ArchivedScopes }> {
  /** Columns of each archived run, by its ID. Tries the days of the IDs first.
   *  @param values values of the columns, from $5 on */
  async read<R extends Row>(
    env: string,
    ids: readonly string[],
    columns: string,
    ...values: readonly unknown[]
  ): Promise<Map<string, R>> {
    const uuids = toUuids(ids);
    const scope = uuids.length === 0 ? undefined : await this.deps.scopes.of(env);
    if (!scope) return new Map();
    const readIn = async (some: readonly string[], { from, to }: Interval) => {
      const rows = await this.database.query<R & { id: string }>(
        `SELECT id, ${columns} FROM runs WHERE id = ANY($1) AND env_id = $2 AND at >= $3 AND at < $4`,
        [some, scope.envId, Math.max(from, scope.since), to, ...values],
      );
      return rows.map((row) => [fromUuid(row.id), row] as const);
    };
    const times = uuids.map((uuid) => timeOf(fromUuid(uuid)));
    const near = { from: Math.min(...times) - BEFORE_ID_MS, to: Math.max(...times) + AFTER_ID_MS };
    const found = new Map<string, R>(await readIn(uuids, near));
    const missing = uuids.filter((uuid) => !found.has(fromUuid(uuid)));
    if (missing.length === 0) return found;
    return new Map([...found, ...(await readIn(missing, { from: scope.since, to: scope.now + DAY_MS }))]);
  }

  async readOne<R extends Row>(
    env: string,
    id: string,
    columns: string,
    ...values: readonly unknown[]
  ): Promise<R | undefined> {
    return (await this.read<R>(env, [id], columns, ...values)).get(id);
  }
}
