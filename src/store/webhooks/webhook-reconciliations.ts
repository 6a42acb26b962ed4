/** Compares the requests that a provider sent with those received, for webhooks with a key for the provider's list: the IDs of both, and
 *  how far they are compared. Every write can be repeated, so a crash between two writes counts no request twice. */
import { DAY_MS, WEEK_MS } from '../../model/values/time.ts';
import { replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import type { CheckedSpan, MissingRequest, ReconciliationState, SentCounts } from './reconciliation-state.ts';

const KEPT_MS = WEEK_MS;
const TTL_MS = KEPT_MS + DAY_MS;
const STATE_TTL_MS = 30 * DAY_MS;
/** Maximum number of requests per webhook whose IDs are kept: about 30 MB. */
const SENT_MAX = 250_000;
const MISSING_MAX = 50_000;

/** The webhook is deleted, or has access to another list. What the earlier list says counts no more. */
export class ListReplaced extends Error {
  override name = 'ListReplaced';
}

export class WebhookReconciliations extends Repository {
  /** Records that a request was received and needs nothing more. */
  async recordReceived(webhookId: string, providerId: string, receivedAt: number): Promise<void> {
    const key = this.keys.of(webhookId).webhookCame(webhookId);
    const writing = this.redis.pipeline().zadd(key, receivedAt, providerId);
    replies(
      await writing
        .zremrangebyrank(key, 0, -SENT_MAX - 1)
        .pexpire(key, TTL_MS)
        .exec(),
    );
  }

  /** Compares items of the provider's list with the received requests.
   *  @param since the list; undefined: any @throws ListReplaced */
  async recordSent(
    webhookId: string,
    items: readonly Pick<MissingRequest, 'id' | 'ref' | 'at'>[],
    since?: number,
  ): Promise<{ matched: number; added: number; left: number }> {
    if (items.length === 0) return { matched: 0, added: 0, left: 0 };
    const keys = this.keys.of(webhookId);
    const counts = (await this.redis.recordSentRequests(
      keys.webhookCame(webhookId),
      keys.webhookSent(webhookId),
      keys.webhookMissing(webhookId),
      keys.webhookMissingDetails(webhookId),
      keys.webhookReconciliation(webhookId),
      since ?? '',
      MISSING_MAX,
      TTL_MS,
      ...items.flatMap(({ id, ref, at }) => [id, at, JSON.stringify({ ref })]),
    )) as [number, number, number] | null;
    if (!counts) throw new ListReplaced();
    const [matched, added, left] = counts;
    return { matched, added, left };
  }

  /** Requests that were received in a span and have been in no list so far. */
  unlisted(webhookId: string, { from, to }: CheckedSpan): Promise<number> {
    return this.redis.zcount(this.keys.of(webhookId).webhookCame(webhookId), from, to);
  }

  /** Whether a request was received since it was found missing. */
  async wasReceived(webhookId: string, id: string): Promise<boolean> {
    return (await this.redis.zscore(this.keys.of(webhookId).webhookCame(webhookId), id)) !== null;
  }

  async settle(webhookId: string, id: string, outcome: 'recovered' | 'received'): Promise<void> {
    const { webhookSent, webhookRecovered, webhookMissing, webhookMissingDetails } = this.keys.of(webhookId);
    await this.redis.settleMissingRequest(
      webhookSent(webhookId),
      webhookRecovered(webhookId),
      webhookMissing(webhookId),
      webhookMissingDetails(webhookId),
      id,
      outcome === 'recovered' ? 1 : 0,
      TTL_MS,
    );
  }

  /** @returns whether the request is still missing */
  async describeMissing(webhookId: string, { id, at: _, ...details }: MissingRequest): Promise<boolean> {
    const { webhookMissing, webhookMissingDetails } = this.keys.of(webhookId);
    const keys = [webhookMissing(webhookId), webhookMissingDetails(webhookId)] as const;
    return (await this.redis.describeMissingRequest(...keys, id, JSON.stringify(details))) === 1;
  }

  /** Missing requests, oldest first.
   *  @param from earliest time, Unix milliseconds
   *  @param after returns only requests after this item */
  async missing(
    webhookId: string,
    { from, to, after, limit }: CheckedSpan & { after?: { at: number; id: string } | undefined; limit: number },
  ): Promise<MissingRequest[]> {
    const { webhookMissing, webhookMissingDetails } = this.keys.of(webhookId);
    const key = webhookMissing(webhookId);
    const found: MissingRequest[] = [];
    const first = Math.max(from, after?.at ?? from);
    // Items of one time are in the order of their IDs.
    for (let offset = 0; found.length < limit; offset += limit) {
      const entries = await this.redis.zrangebyscore(key, first, to, 'WITHSCORES', 'LIMIT', offset, limit);
      const ids = entries.filter((_, i) => i % 2 === 0);
      if (ids.length === 0) break;
      const details = await this.redis.hmget(webhookMissingDetails(webhookId), ...ids);
      for (const [i, id] of ids.entries()) {
        const at = Number(entries[2 * i + 1]);
        if (after && (at < after.at || (at === after.at && id <= after.id))) continue;
        const text = details[i];
        if (text) found.push({ id, at, ...(JSON.parse(text) as Omit<MissingRequest, 'id' | 'at'>) });
      }
    }
    return found.slice(0, limit);
  }

  /** @param from inclusive, Unix milliseconds; -Infinity: all */
  async counts(webhookId: string, { from, to }: CheckedSpan): Promise<SentCounts> {
    const { webhookSent, webhookRecovered, webhookMissing } = this.keys.of(webhookId);
    const reading = this.redis.pipeline();
    for (const keyOf of [webhookSent, webhookRecovered, webhookMissing]) reading.zcount(keyOf(webhookId), from, to);
    const [settled = 0, recovered = 0, missing = 0] = replies<number>(await reading.exec());
    return { sent: settled + missing, received: settled - recovered, recovered, missing };
  }

  /** The time at which the newest missing request was sent; undefined: none is missing. */
  async lastMissingAt(webhookId: string, to: number): Promise<number | undefined> {
    const key = this.keys.of(webhookId).webhookMissing(webhookId);
    const [, at] = await this.redis.zrevrangebyscore(key, to, '-inf', 'WITHSCORES', 'LIMIT', 0, 1);
    return at === undefined ? undefined : Number(at);
  }

  /** Drops requests that are too old. @returns the time since which all requests are known, Unix milliseconds */
  async trim(webhookId: string, nowMs: number): Promise<number> {
    const { webhookCame, webhookSent, webhookRecovered, webhookMissing, webhookMissingDetails } =
      this.keys.of(webhookId);
    const keys = [webhookCame, webhookSent, webhookRecovered, webhookMissing, webhookMissingDetails] as const;
    const [came, sent, recovered, missing, details] = keys.map((keyOf) => keyOf(webhookId)) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const since = await this.redis.trimSentRequests(came, sent, recovered, missing, details, nowMs - KEPT_MS, SENT_MAX);
    return Number(since);
  }

  /** Webhooks whose next round is due, longest overdue first. */
  due(nowMs: number, limit: number): Promise<string[]> {
    return this.redis.zrangebyscore(this.keys.dueWebhookReconciliations, '-inf', nowMs, 'LIMIT', 0, limit);
  }

  /** Webhooks that have a time for their next round. */
  entered(limit: number): Promise<string[]> {
    return this.redis.zrange(this.keys.dueWebhookReconciliations, 0, String(limit - 1));
  }

  /** Enters webhooks that have no time for their next round; it is then due immediately. */
  async enter(webhookIds: readonly string[]): Promise<void> {
    const key = this.keys.dueWebhookReconciliations;
    const writing = this.redis.pipeline().zadd(key, 'NX', ...webhookIds.flatMap((id) => [0, id]));
    replies(await writing.pexpire(key, STATE_TTL_MS).exec());
  }

  /** Postpones the next round of a webhook that cannot be reconciled now. */
  async defer(webhookId: string, untilMs: number): Promise<void> {
    await this.redis.zadd(this.keys.dueWebhookReconciliations, 'XX', untilMs, webhookId);
  }

  async state(webhookId: string): Promise<ReconciliationState> {
    const fields = await this.redis.hgetall(this.keys.of(webhookId).webhookReconciliation(webhookId));
    return {
      dueAt: 0,
      ...Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, JSON.parse(text)])),
    };
  }

  /** Makes the state that of a list. What is stored of another list is deleted. */
  async begin(webhookId: string, since: number): Promise<void> {
    await this.redis.beginWebhookReconciliation(...this.#keysOf(webhookId), since, STATE_TTL_MS);
  }

  /** Changes the given fields; undefined removes one.
   *  @param since the list; undefined: any @throws ListReplaced */
  async change(webhookId: string, fields: Partial<ReconciliationState>, since?: number): Promise<void> {
    const changed = await this.redis.changeWebhookReconciliation(
      this.keys.of(webhookId).webhookReconciliation(webhookId),
      since ?? '',
      STATE_TTL_MS,
      ...Object.entries(fields).flatMap(([name, value]) => [name, value === undefined ? '' : JSON.stringify(value)]),
    );
    if (changed === 0) throw new ListReplaced();
    // The due time comes last: whoever finds the webhook due also finds the other fields.
    if (fields.dueAt !== undefined) await this.redis.zadd(this.keys.dueWebhookReconciliations, fields.dueAt, webhookId);
  }

  /** The time of the last `noteAlive` of any process; undefined: none. */
  async lastAlive(): Promise<number | undefined> {
    const text = await this.redis.get(this.keys.webhookReconciliationAlive);
    return text === null ? undefined : Number(text);
  }

  async noteAlive(nowMs: number): Promise<void> {
    await this.redis.set(this.keys.webhookReconciliationAlive, nowMs, 'PX', STATE_TTL_MS);
  }

  /** Deletes the data of a webhook. */
  async remove(webhookId: string): Promise<void> {
    await this.redis.zrem(this.keys.dueWebhookReconciliations, webhookId);
    await this.redis.del(...this.#keysOf(webhookId));
  }

  /** The state comes first. */
  #keysOf(webhookId: string) {
    const keys = this.keys.of(webhookId);
    return [
      keys.webhookReconciliation(webhookId),
      keys.webhookCame(webhookId),
      keys.webhookSent(webhookId),
      keys.webhookRecovered(webhookId),
      keys.webhookMissing(webhookId),
      keys.webhookMissingDetails(webhookId),
    ] as const;
  }
}
