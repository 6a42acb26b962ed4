/** Webhook requests that are not archived yet. A log is due when it gets a request, and also from time to time: the archiver then
 *  verifies that all of it is archived, and drops requests that are no longer hot. */
import { encodeTime } from 'ulid';
import type { LogStats, LogSummary } from '../../model/webhooks/request-log.ts';
import { inPipelines, replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import { TTL_MS } from './webhook-log.ts';

const LIST_EVERY_MS = 600_000;
const TIME_CHARS = 10;

export interface StoredRequest {
  summary: LogSummary;
  /** JSON. */
  summaryText: string;
  /** JSON: headers and query string. */
  request: string;
  /** undefined if it was not read completely. */
  body: Buffer | undefined;
}

export interface ExaminedLog {
  /** IDs of archived requests. */
  archived?: readonly string[];
  /** IDs that are not archived. */
  missing?: readonly string[];
  /** IDs to drop, if they are archived. */
  drop?: readonly string[];
  nowMs: number;
  /** Time until the log is due again. */
  lookAgainMs: number;
}

export class UnarchivedRequests extends Repository<
  ScriptedRedis,
  {
    /** Maximum number of archived requests that a log keeps; 0: there is no log. */
    maxRequests: number;
  }
> {
  get isOn(): boolean {
    return this.deps.maxRequests > 0;
  }

  /** Webhooks of a partition whose logs are due, longest overdue first. */
  async due(partition: number, nowMs: number, limit: number): Promise<string[]> {
    const { dueWebhookLogs } = this.keys.partition(partition);
    return this.redis.zrangebyscore(dueWebhookLogs, '-inf', nowMs, 'LIMIT', 0, limit);
  }

  /** Every few minutes, makes logs of the partition due that were never due, because they are older than the archive. */
  async listAll(partition: number, nowMs: number): Promise<void> {
    const { dueWebhookLogs, webhookLogsListed } = this.keys.partition(partition);
    if ((await this.redis.set(webhookLogsListed, '1', 'PX', LIST_EVERY_MS, 'NX')) !== 'OK') return;
    const ids = await this.redis.hkeys(this.keys.webhooks);
    const here = ids.filter((id) => this.keys.of(id).number === partition);
    if (here.length === 0) return;
    const adding = this.redis.pipeline();
    for (const id of here) adding.zadd(dueWebhookLogs, 'NX', nowMs, id);
    adding.pexpire(dueWebhookLogs, TTL_MS);
    replies(await adding.exec());
  }

  /** Requests of a log that are not archived, oldest first: up to a number of bytes, but at least one.
   *  @returns also the IDs of expired requests */
  async read(
    webhookId: string,
    { limit, maxBytes }: { limit: number; maxBytes: number },
  ): Promise<{ requests: StoredRequest[]; gone: string[] }> {
    const { unarchivedRequests, webhookLogSizes, webhookRequest } = this.keys.of(webhookId);
    const ids = await this.redis.zrange(unarchivedRequests(webhookId), '0', String(limit - 1));
    if (ids.length === 0) return { requests: [], gone: [] };
    const sizes = await this.redis.hmget(webhookLogSizes(webhookId), ...ids);
    const chosen = ids.slice(0, countWithin(sizes.map(Number), maxBytes));
    const reading = this.redis.pipeline();
    for (const id of chosen) reading.hgetallBuffer(webhookRequest(webhookId, id));
    const found = replies<Record<string, Buffer>>(await reading.exec());
    const requests: StoredRequest[] = [];
    const gone: string[] = [];
    for (const [i, { summary: text, request, body }] of found.entries()) {
      if (!text || !request) {
        gone.push(chosen[i] as string);
        continue;
      }
      const summary = JSON.parse(text.toString()) as LogSummary;
      requests.push({
        summary,
        summaryText: text.toString(),
        request: request.toString(),
        body: summary.bodyBytes === undefined || summary.storedBody !== undefined ? undefined : body,
      });
    }
    return { requests, gone };
  }

  /** IDs of all requests in a log, and of the requests that are not archived as far as Redis knows. */
  async ids(webhookId: string): Promise<{ all: string[]; unarchived: string[] }> {
    const { webhookLog, unarchivedRequests } = this.keys.of(webhookId);
    const [all, unarchived] = await Promise.all([
      this.redis.zrange(webhookLog(webhookId), '0', '-1'),
      this.redis.zrange(unarchivedRequests(webhookId), '0', '-1'),
    ]);
    return { all, unarchived };
  }

  /** Records which requests are archived, and drops requests that are no longer needed.
   *  @returns number of dropped requests */
  async note(
    webhookId: string,
    { archived = [], missing = [], drop = [], nowMs, lookAgainMs }: ExaminedLog,
  ): Promise<number> {
    const keys = this.keys.of(webhookId);
    const args = {
      webhookId,
      maxRequests: this.deps.maxRequests,
      requestPrefix: keys.webhookRequest(webhookId, ''),
      originalPrefix: keys.originalRequest(webhookId, ''),
      archived,
      missing,
      drop,
      nowMs,
      lookAgainMs,
      ttlMs: TTL_MS,
    };
    const dropped = await this.redis.dropArchivedRequests(
      keys.webhookLog(webhookId),
      keys.webhookLogSizes(webhookId),
      keys.webhookRejections(webhookId),
      keys.webhookFiltered(webhookId),
      keys.webhookUnverified(webhookId),
      keys.unarchivedRequests(webhookId),
      keys.dueWebhookLogs,
      JSON.stringify(args),
    );
    return dropped as number;
  }

  /** The highest dropped ID: above it, the log is complete. undefined if none was dropped. */
  async highestDropped(webhookId: string): Promise<string | undefined> {
    return (await this.redis.hget(this.keys.of(webhookId).webhookLogSizes(webhookId), 'dropped')) ?? undefined;
  }

  /** Numbers of unarchived requests, in the order of the IDs. */
  async counts(webhookIds: readonly string[]): Promise<Omit<LogStats, 'lastAt'>[]> {
    if (webhookIds.length === 0) return [];
    const commands = webhookIds.map((id) => ['zcard', this.keys.of(id).unarchivedRequests(id)]);
    const counts = await inPipelines<number>(this.redis, commands);
    return Promise.all(webhookIds.map((id, i) => this.#countsOf(id, counts[i] as number)));
  }

  async #countsOf(id: string, requests: number): Promise<Omit<LogStats, 'lastAt'>> {
    if (requests === 0) return { requests, rejected: 0, filtered: 0, unverified: 0 };
    const { unarchivedRequests, webhookRejections, webhookFiltered, webhookUnverified } = this.keys.of(id);
    const countIn = (index: (webhookId: string) => string) =>
      this.redis.zintercard(2, unarchivedRequests(id), index(id));
    const [rejected, filtered, unverified] = await Promise.all([
      countIn(webhookRejections),
      countIn(webhookFiltered),
      countIn(webhookUnverified),
    ]);
    return { requests, rejected, filtered, unverified };
  }

  /** Records the deletion of a webhook until the archive has processed it. */
  async noteRemoval(webhookId: string, nowMs: number): Promise<void> {
    await this.redis.hset(this.keys.removedWebhooks, webhookId, nowMs);
  }

  async isRemoved(webhookId: string): Promise<boolean> {
    return (await this.redis.hexists(this.keys.removedWebhooks, webhookId)) === 1;
  }

  /** Webhook ID → time of deletion. */
  async removals(): Promise<Map<string, number>> {
    const fields = await this.redis.hgetall(this.keys.removedWebhooks);
    return new Map(Object.entries(fields).map(([id, at]) => [id, Number(at)]));
  }

  async forgetRemovals(webhookIds: readonly string[]): Promise<void> {
    await this.redis.hdel(this.keys.removedWebhooks, ...webhookIds);
  }
}

/** Lower bound of the IDs of requests since a time. */
export function idsFrom(timeMs: number): string {
  return encodeTime(timeMs, TIME_CHARS);
}

function countWithin(sizes: readonly number[], maxBytes: number): number {
  let bytes = 0;
  const end = sizes.findIndex((size, i) => {
    bytes += size;
    return i > 0 && bytes > maxBytes;
  });
  return end === -1 ? sizes.length : end;
}
