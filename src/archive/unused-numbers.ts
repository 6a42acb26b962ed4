/** Removes unreferenced texts from the archive, a few at a time. */
import { DAY_MS } from '../model/values/time.ts';
import { type Client, Repository } from './database.ts';

/** Number of names that are removed at once: few, because each is searched in the tables of all days. */
const NAMES_AT_ONCE = 200;
const ROWS_AT_ONCE = 1_000;
/** After this time, a shipment that began before the environment's deletion has ended. */
const FORGOTTEN_MS = DAY_MS;

export class UnusedNumbers extends Repository {
  /** Removes the event names of a day that occur on no other day. A shipment locks the names that it uses (shipments.ts), and commits them
   *  together with its day: so a name that this can lock, and that has no day afterwards, has no events.
   *  @param table detached table with the day's names */
  async removeNames(client: Client, table: string, day: number): Promise<void> {
    let after = 0;
    for (;;) {
      const { rows } = await client.query<{ name_id: number }>(
        `SELECT name_id FROM ${table} WHERE at = $1 AND name_id > $2 ORDER BY at, name_id LIMIT ${NAMES_AT_ONCE}`,
        [day, after],
      );
      const last = rows.at(-1);
      if (!last) return;
      after = last.name_id;
      await client.query('BEGIN');
      try {
        const locked = await client.query<{ id: number }>(
          'SELECT id FROM event_names WHERE id = ANY($1) FOR UPDATE SKIP LOCKED',
          [rows.map(({ name_id }) => name_id)],
        );
        await client.query(
          `DELETE FROM event_names n WHERE id = ANY($1)
           AND NOT EXISTS (SELECT FROM event_name_days d WHERE d.env_id = n.env_id AND d.name_id = n.id)`,
          [locked.rows.map(({ id }) => id)],
        );
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {});
        throw error;
      }
    }
  }

  /** Removes the remains of deleted environments whose days are gone. */
  async removeEnvironments(nowMs: number): Promise<void> {
    const gone = await this.database.query<{ id: number }>(
      `SELECT id FROM environments e WHERE deleted_at < $1
       AND NOT EXISTS (SELECT FROM archived_days d WHERE d.env_id = e.id) ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
      [nowMs - FORGOTTEN_MS],
    );
    for (const { id } of gone) {
      for (const table of ['event_names', 'event_sources', 'functions']) {
        const some = `SELECT id FROM ${table} WHERE env_id = $1 LIMIT ${ROWS_AT_ONCE}`;
        const text = `DELETE FROM ${table} WHERE id IN (${some}) RETURNING id`;
        while ((await this.database.query(text, [id])).length === ROWS_AT_ONCE);
      }
      await this.database.query('DELETE FROM environments WHERE id = $1', [id]);
    }
  }
}
