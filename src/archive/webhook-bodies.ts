/** Large bodies of webhook requests. They are written before the provider gets its response, and deleted with the
 *  requests of their day. */
import { timeOf } from '../model/ids.ts';
import { type ArchivedDays, type DayTables, dayOf, INSTALLATION } from './archived-days.ts';
import { Conditions } from './conditions.ts';
import { Repository, toText, toUuid, toUuids } from './database.ts';
import { NOT_REMOVED } from './request-counts.ts';
import { withTables } from './request-shipments.ts';
import { SHIPMENT_TIMEOUT_MS } from './shipments.ts';

export interface KeptBody {
  webhookId: string;
  requestId: string;
  body: Buffer;
  /** Hex. */
  sha256: string;
}

/** Store of large bodies: in Postgres, or in a bucket (body-bucket.ts). */
export interface WebhookBodyStore {
  /** Stores a body, which is on disk when this resolves. Repeating this changes nothing. @throws ServiceError archive_unavailable */
  add(kept: KeptBody, retentionDays: number): Promise<void>;
  /** @throws ServiceError archive_unavailable */
  read(webhookId: string, requestId: string): Promise<Buffer | undefined>;
}

const KIND = 'webhook_requests';

export class WebhookBodies extends Repository<{ days: ArchivedDays; tables: DayTables }> implements WebhookBodyStore {
  async add({ webhookId, requestId, body }: KeptBody, retentionDays: number): Promise<void> {
    const { days, tables } = this.deps;
    const at = timeOf(requestId);
    const day = dayOf(at);
    await withTables(days, tables, async () => {
      const retention = await days.retentionOf(INSTALLATION, KIND, day, retentionDays);
      const table = await tables.ensure('webhook_bodies', retention, day);
      await this.database.transaction(async (client) => {
        await client.query(`SET LOCAL statement_timeout = ${SHIPMENT_TIMEOUT_MS}`);
        const { rowCount } = await client.query(
          `INSERT INTO ${table} (retention, at, id, webhook_id, body) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
          [retention, at, toUuid(requestId), toText(webhookId), body],
        );
        if (rowCount === 1) {
          await days.add(client, [{ envId: INSTALLATION, kind: KIND, day, rows: 0, bytes: body.length }]);
        }
      });
    });
  }

  async read(webhookId: string, requestId: string): Promise<Buffer | undefined> {
    const [uuid] = toUuids([requestId]);
    if (uuid === undefined) return undefined;
    const where = new Conditions().add('at = ?', timeOf(requestId)).add('id = ?', uuid);
    where.add('webhook_id = ?', toText(webhookId)).add(NOT_REMOVED, toText(webhookId));
    const [row] = await this.database.query<{ body: Buffer }>(
      `SELECT body FROM webhook_bodies WHERE ${where.sql}`,
      where.values,
    );
    return row?.body;
  }
}
