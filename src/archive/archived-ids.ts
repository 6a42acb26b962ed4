/** Checks which events are archived. Ingestion asks about old events. */
import { timeOf } from '../model/ids.ts';
import { DAY_MS } from '../model/values/time.ts';
import { fromUuid, Repository, toUuids } from './database.ts';
import type { Numbers } from './numbers.ts';

export class ArchivedIds extends Repository<{ numbers: Numbers }> {
  /** @throws ServiceError archive_unavailable */
  async present(env: string, ids: readonly string[]): Promise<Set<string>> {
    const envId = await this.deps.numbers.environment(env);
    if (envId === undefined || ids.length === 0) return new Set();
    // An event is received after its ID was created, apart from clock differences.
    const from = Math.min(...ids.map(timeOf)) - DAY_MS;
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM events WHERE env_id = $1 AND at >= $2 AND id = ANY($3)',
      [envId, from, toUuids(ids)],
    );
    return new Set(rows.map(({ id }) => fromUuid(id)));
  }
}
