/** Archived webhook requests. Requests of deleted webhooks are not found. */
import { timeOf } from '../model/ids.ts';
import { DAY_MS } from '../model/values/time.ts';
import {
  LOG_OUTCOMES,
  type LogFilter,
  type LoggedRequest,
  type LogQuery,
  type LogStats,
  type LogSummary,
} from '../model/webhooks/request-log.ts';
import { dayOf } from './archived-days.ts';
import { Conditions } from './conditions.ts';
import { fromUuid, Repository, toText, toUuid, toUuids } from './database.ts';
import { isVerification, NOT_REMOVED, verificationCount } from './request-counts.ts';

export interface RequestPage {
  requests: LogSummary[];
  /** Whether there may be more. */
  isFull: boolean;
}

export class ArchivedRequests extends Repository {
  /** Newest first. @throws ServiceError archive_unavailable */
  list(webhookId: string, query: LogQuery): Promise<RequestPage> {
    return this.#page(webhookId, query, 'DESC');
  }

  /** Oldest first. @throws ServiceError archive_unavailable */
  listOldest(webhookId: string, query: LogQuery): Promise<RequestPage> {
    return this.#page(webhookId, query, 'ASC');
  }

  /** @throws ServiceError archive_unavailable */
  async read(webhookId: string, requestId: string): Promise<LoggedRequest | undefined> {
    const [uuid] = toUuids([requestId]);
    if (uuid === undefined) return undefined;
    const where = new Conditions().add('at = ?', timeOf(requestId)).add('id = ?', uuid);
    where.add('webhook_id = ?', toText(webhookId)).add(NOT_REMOVED, toText(webhookId));
    const [row] = await this.database.query<{ summary: string; request: string; body: Buffer | null }>(
      `SELECT summary, request, body FROM webhook_requests WHERE ${where.sql}`,
      where.values,
    );
    if (!row) return undefined;
    const request = JSON.parse(row.request) as Pick<LoggedRequest, 'headers' | 'search'>;
    return { summary: JSON.parse(row.summary) as LogSummary, ...request, body: row.body ?? undefined };
  }

  /** Statistics of each webhook, in the order of the IDs. @throws ServiceError archive_unavailable */
  async stats(webhookIds: readonly string[]): Promise<LogStats[]> {
    const rows = await this.database.query<{ webhook_id: string; outcome: string; count: number; last_at: number }>(
      `SELECT webhook_id, outcome, sum(count)::bigint AS count, max(last_at) AS last_at
       FROM webhook_request_counts WHERE webhook_id = ANY($1) GROUP BY webhook_id, outcome`,
      [webhookIds.map(toText)],
    );
    const found = Map.groupBy(rows, (row) => row.webhook_id);
    return webhookIds.map((id) => {
      const ofWebhook = found.get(toText(id)) ?? [];
      const outcomes = ofWebhook.filter(({ outcome }) => !isVerification(outcome));
      const countOf = (outcome: string) => ofWebhook.find((row) => row.outcome === outcome)?.count ?? 0;
      return {
        requests: outcomes.reduce((sum, { count }) => sum + count, 0),
        rejected: countOf('rejected'),
        filtered: countOf('filtered'),
        unverified: countOf(verificationCount('failed')),
        lastAt: outcomes.length > 0 ? Math.max(...outcomes.map((row) => row.last_at)) : undefined,
      };
    });
  }

  /** The IDs that are archived. @throws ServiceError archive_unavailable */
  async present(webhookId: string, ids: readonly string[]): Promise<Set<string>> {
    const uuids = toUuids(ids);
    const times = ids.map(timeOf);
    const where = new Conditions().add('webhook_id = ?', toText(webhookId)).add('id = ANY(?)', uuids);
    where.add('at >= ? AND at <= ?', Math.min(...times), Math.max(...times));
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM webhook_requests WHERE ${where.sql}`,
      where.values,
    );
    return new Set(rows.map(({ id }) => fromUuid(id)));
  }

  /** Hides all requests of deleted webhooks.
   *  @param removals webhook ID → Unix milliseconds */
  async remove(removals: ReadonlyMap<string, number>): Promise<void> {
    await this.database.query(
      `INSERT INTO removed_webhooks (webhook_id, removed_at) SELECT * FROM unnest($1::text[], $2::bigint[])
       ON CONFLICT DO NOTHING`,
      [[...removals.keys()].map(toText), [...removals.values()]],
    );
  }

  /** Reads as many days as the counts say are needed for the page; a few rounds at most, because a cursor or a time cuts only the first
   *  day. */
  async #page(webhookId: string, query: LogQuery, order: 'ASC' | 'DESC'): Promise<RequestPage> {
    const { limit } = query;
    const days = await this.#days(webhookId, query, order);
    const requests: LogSummary[] = [];
    while (days.length > 0 && requests.length < limit) {
      const first = days.shift() as { day: number };
      let last = first.day;
      for (let sum = 0; days[0] && sum < limit - requests.length; ) {
        sum += days[0].count;
        last = (days.shift() as { day: number }).day;
      }
      const where = new Conditions().add('webhook_id = ?', toText(webhookId));
      where.add('at >= ? AND at < ?', Math.min(first.day, last), Math.max(first.day, last) + DAY_MS);
      addFilter(where, query);
      if (query.cursor !== undefined) where.add(`id ${order === 'DESC' ? '<' : '>'} ?`, toUuid(query.cursor));
      const rows = await this.database.query<{ summary: string }>(
        `SELECT summary FROM webhook_requests WHERE ${where.sql}
         ORDER BY id ${order} LIMIT ${where.value(limit - requests.length)}`,
        where.values,
      );
      for (const { summary } of rows) requests.push(JSON.parse(summary) as LogSummary);
    }
    return { requests, isFull: requests.length === limit };
  }

  /** Days with requests of this or later pages, in the page's order. */
  async #days(webhookId: string, query: LogQuery, order: 'ASC' | 'DESC') {
    const { cursor, after, before, outcomes, verification } = query;
    const where = new Conditions().add('webhook_id = ?', toText(webhookId)).add(NOT_REMOVED, toText(webhookId));
    if (after !== undefined) where.add('at >= ?', dayOf(after));
    if (before !== undefined) where.add('at < ?', before);
    // Each request is counted by its outcome, and again by the result of its verification.
    if (verification) where.add('outcome = ?', verificationCount(verification));
    else where.add('outcome = ANY(?)', outcomes ?? LOG_OUTCOMES);
    if (cursor !== undefined) where.add(order === 'DESC' ? 'at <= ?' : 'at >= ?', dayOf(timeOf(cursor)));
    return this.database.query<{ day: number; count: number }>(
      `SELECT at AS day, sum(count)::bigint AS count FROM webhook_request_counts WHERE ${where.sql}
       GROUP BY at ORDER BY at ${order}`,
      where.values,
    );
  }
}

function addFilter(where: Conditions, { after, before, outcomes, verification }: LogFilter): void {
  if (after !== undefined) where.add('at >= ?', after);
  if (before !== undefined) where.add('at < ?', before);
  if (outcomes?.length === 1) where.add('outcome = ?', outcomes[0]);
  else if (outcomes) where.add('outcome = ANY(?)', outcomes);
  // Inside a JSON string a quotation mark follows a backslash, so nothing else matches.
  if (verification) where.add('strpos(summary, ?) > 0', `"verification":{"result":"${verification}"`);
}
