/** The archived audit log. An entry is identified by its stream ID, `<milliseconds>-<sequence>`. */
import { sum } from '../model/values/sum.ts';
import type { AuditEntry, StoredAuditEntry } from '../store/auth/audit-log.ts';
import { type ArchivedDays, type DayTables, dayOf, INSTALLATION } from './archived-days.ts';
import { Repository } from './database.ts';
import { withTables } from './request-shipments.ts';

export interface AuditRow {
  id: string;
  /** JSON. */
  entry: string;
}

export class ArchivedAudit extends Repository<{ days: ArchivedDays; tables: DayTables }> {
  /** Adds the rows that are missing.
   *  @returns number of added rows
   *  @throws ServiceError archive_unavailable */
  async ship(rows: readonly AuditRow[], retentionDays: number): Promise<number> {
    return withTables(this.deps.days, this.deps.tables, () => this.#ship(rows, retentionDays));
  }

  async #ship(rows: readonly AuditRow[], retentionDays: number): Promise<number> {
    let added = 0;
    for (const [day, ofDay] of Map.groupBy(rows, ({ id }) => dayOf(positionOf(id).at))) {
      const retention = await this.deps.days.retentionOf(INSTALLATION, 'audit_entries', day, retentionDays);
      const table = await this.deps.tables.ensure('audit_entries', retention, day);
      added += await this.database.transaction(async (client) => {
        const positions = ofDay.map(({ id }) => positionOf(id));
        // No COPY: there are few rows, and some may exist.
        const { rows: inserted } = await client.query<{ bytes: number }>(
          `INSERT INTO ${table} (retention, at, sequence, entry)
           SELECT ${retention}, * FROM unnest($1::bigint[], $2::bigint[], $3::text[]) ORDER BY 2, 3
           ON CONFLICT (at, sequence) DO NOTHING RETURNING octet_length(entry) AS bytes`,
          [positions.map(({ at }) => at), positions.map(({ sequence }) => sequence), ofDay.map(({ entry }) => entry)],
        );
        const bytes = sum(inserted, (row) => row.bytes);
        const change = { envId: INSTALLATION, kind: 'audit_entries' as const, day, rows: inserted.length, bytes };
        await this.deps.days.add(client, [change]);
        return inserted.length;
      });
    }
    return added;
  }

  /** Newest first. @throws ServiceError archive_unavailable */
  async list(limit: number, before: string | undefined): Promise<StoredAuditEntry[]> {
    const { at, sequence } = before === undefined ? { at: Number.MAX_SAFE_INTEGER, sequence: 0 } : positionOf(before);
    const rows = await this.database.query<{ at: number; sequence: number; entry: string }>(
      `SELECT at, sequence, entry FROM audit_entries WHERE at <= $1 AND (at, sequence) < ($1, $2)
       ORDER BY at DESC, sequence DESC LIMIT $3`,
      [at, sequence, limit],
    );
    return rows.map((row) => ({ id: `${row.at}-${row.sequence}`, ...(JSON.parse(row.entry) as AuditEntry) }));
  }
}

function positionOf(id: string): { at: number; sequence: number } {
  const [at, sequence] = id.split('-');
  return { at: Number(at), sequence: Number(sequence) };
}
