/** Writes webhook requests to the archive and counts them; shipping one again changes nothing. */

import { sum } from '../model/values/sum.ts';
import type { VerificationResult } from '../model/webhooks/request-log.ts';
import { type ArchivedDays, type DayTables, dayOf, INSTALLATION } from './archived-days.ts';
import { CopyBuffer } from './copy-buffer.ts';
import { addMissing, copy } from './copying.ts';
import { type Client, codeOf, Repository, toText, UNDEFINED_TABLE, UNIQUE_VIOLATION } from './database.ts';
import { verificationCount } from './request-counts.ts';
import { SHIPMENT_TIMEOUT_MS } from './shipments.ts';

export interface RequestRow {
  id: string;
  /** The time of its ID, Unix milliseconds. */
  at: number;
  webhookId: string;
  outcome: string;
  /** undefined if the webhook verified nothing. */
  verification: VerificationResult | undefined;
  status: number;
  eventName: string | undefined;
  /** JSON. */
  summary: string;
  /** JSON. */
  request: string;
  body: Buffer | undefined;
}

const COLUMNS = 'retention, at, id, webhook_id, outcome, status, event_name, summary, request, body';
const COLUMN_COUNT = COLUMNS.split(',').length;

interface Part {
  table: string;
  countTable: string;
  retention: number;
  day: number;
  rows: readonly RequestRow[];
}

export class RequestShipments extends Repository<{ days: ArchivedDays; tables: DayTables }> {
  /** Resolves when all rows are archived.
   *  @param retentionDays for days that have no retention yet
   *  @throws ServiceError archive_unavailable */
  async ship(rows: readonly RequestRow[], retentionDays: number): Promise<void> {
    await withTables(this.deps.days, this.deps.tables, () => this.#ship(rows, retentionDays));
  }

  async #ship(rows: readonly RequestRow[], retentionDays: number): Promise<void> {
    const parts = await this.#parts(rows, retentionDays);
    if (parts.length === 0) return;
    try {
      await this.#write(parts, false);
    } catch (error) {
      if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
      await this.#write(parts, true);
    }
  }

  async #parts(rows: readonly RequestRow[], retentionDays: number): Promise<Part[]> {
    const parts: Part[] = [];
    const byDay = [...Map.groupBy(rows, ({ at }) => dayOf(at))].sort(([a], [b]) => a - b);
    for (const [day, ofDay] of byDay) {
      const retention = await this.deps.days.retentionOf(INSTALLATION, 'webhook_requests', day, retentionDays);
      const table = await this.deps.tables.ensure('webhook_requests', retention, day);
      const countTable = await this.deps.tables.ensure('webhook_request_counts', retention, day);
      parts.push({ table, countTable, retention, day, rows: ofDay });
    }
    return parts;
  }

  async #write(parts: readonly Part[], isRepeat: boolean): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = ${SHIPMENT_TIMEOUT_MS}`);
      const changes = [];
      const added: { part: Part; rows: readonly RequestRow[] }[] = [];
      for (const part of parts) {
        const rows = await copyRequests(client, part, isRepeat);
        const bytes = sum(rows, sizeOf);
        changes.push({
          envId: INSTALLATION,
          kind: 'webhook_requests' as const,
          day: part.day,
          rows: rows.length,
          bytes,
        });
        added.push({ part, rows });
      }
      for (const { part, rows } of added) await addCounts(client, part, rows);
      await this.deps.days.add(client, changes);
    });
  }
}

/** Repeats the work if a day table was dropped in the meantime: all its rows had expired. */
export async function withTables<T>(days: ArchivedDays, tables: DayTables, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) !== UNDEFINED_TABLE) throw error;
    days.forget();
    tables.forget();
    return work();
  }
}

/** @returns the added rows */
async function copyRequests(
  client: Client,
  { table, retention, rows }: Part,
  isRepeat: boolean,
): Promise<readonly RequestRow[]> {
  const buffer = new CopyBuffer();
  for (const { at, id, webhookId, outcome, status, eventName, summary, request, body } of rows) {
    buffer.row(COLUMN_COUNT).smallint(retention).bigint(at).uuid(id).text(toText(webhookId)).text(outcome);
    buffer.smallint(status).text(eventName === undefined ? undefined : toText(eventName));
    buffer.text(summary).text(request).bytes(body);
  }
  if (!isRepeat) {
    await copy(client, table, COLUMNS, buffer);
    return rows;
  }
  const ids = await addMissing(client, 'webhook_requests', table, COLUMNS, buffer);
  return rows.filter(({ id }) => ids.has(id));
}

async function addCounts(client: Client, { countTable, retention, day }: Part, rows: readonly RequestRow[]) {
  if (rows.length === 0) return;
  const counted = rows.flatMap(({ webhookId, outcome, verification, at }) => {
    const minute = { webhookId, at };
    return [{ ...minute, outcome }, ...(verification ? [{ ...minute, outcome: verificationCount(verification) }] : [])];
  });
  const groups = [...Map.groupBy(counted, ({ webhookId, outcome }) => `${webhookId}\n${outcome}`).values()];
  // Sorted, so that two archivers do not deadlock.
  await client.query(
    `INSERT INTO ${countTable} AS c (retention, at, webhook_id, outcome, count, last_at)
     SELECT ${retention}, ${day}, webhook_id, outcome, count, last_at
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS t (webhook_id, outcome, count, last_at)
     ORDER BY webhook_id, outcome
     ON CONFLICT (at, webhook_id, outcome) DO UPDATE
     SET count = c.count + EXCLUDED.count, last_at = greatest(c.last_at, EXCLUDED.last_at)`,
    [
      groups.map(([first]) => toText(first?.webhookId ?? '')),
      groups.map(([first]) => first?.outcome),
      groups.map((group) => group.length),
      groups.map((group) => Math.max(...group.map(({ at }) => at))),
    ],
  );
}

function sizeOf({ summary, request, body }: RequestRow): number {
  return summary.length + request.length + (body?.length ?? 0);
}
