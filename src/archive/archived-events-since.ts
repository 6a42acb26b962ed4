/** Archived events of one name, oldest first, for waits and cancel triggers that look back. */
import type { Position } from '../store/redis/pagination.ts';
import type { ArchivedScopes } from './archived-scopes.ts';
import { Conditions } from './conditions.ts';
import { fromUuid, Repository, toUuid } from './database.ts';
import type { Numbers } from './numbers.ts';

export class ArchivedEventsSince extends Repository<{ numbers: Numbers; scopes: ArchivedScopes }> {
  /** The next events by receipt.
   *  @param after the position before them */
  async positions(env: string, name: string, after: Position, limit: number): Promise<Position[]> {
    const scope = await this.deps.scopes.of(env);
    const number = scope && (await this.deps.numbers.of('event_names', scope.envId, name));
    if (!scope || number === undefined) return [];
    const wanted = new Conditions()
      .add('name_id = ? AND at >= ?', number, Math.ceil(Math.max(after.at, scope.since)))
      .add('(at, id) > (?, ?)', after.at, toUuid(after.id));
    const rows = await this.database.query<{ at: number; id: string }>(
      `SELECT at, id FROM events WHERE ${wanted.sql} ORDER BY at, id LIMIT ${wanted.value(limit)}`,
      wanted.values,
    );
    return rows.map(({ at, id }) => ({ at, id: fromUuid(id) }));
  }
}
