/** The last requests of each webhook, with every outcome. Bodies are stored byte for byte. With an archive, which gets them soon
 *  (unarchived-requests.ts), Redis has the newest part of the log. */
import { decodeTime, encodeTime } from 'ulid';
import { WEEK_MS } from '../../model/values/time.ts';
import type {
  LogCounts,
  LogFilter,
  LoggedRequest,
  LogPage,
  LogQuery,
  LogSummary,
} from '../../model/webhooks/request-log.ts';
import { inPipelines, replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';

export const TTL_MS = WEEK_MS;
const MAX_BYTES = 32 * 1_048_576;
/** Maximum number of requests per webhook that wait for the archive. */
const UNARCHIVED_MAX = 10_000;
/** Maximum number of requests examined for a filtered page. */
const EXAMINED_MAX = 2_000;
const READ_AT_ONCE = 200;
/** Leading characters of a ULID, which encode the time. */
const TIME_CHARS = 10;
const EMPTY = Buffer.alloc(0);

export class WebhookLog extends Repository<ScriptedRedis, { maxRequests: number; hasArchive: boolean }> {
  /** Maximum number of requests in a webhook's log: of more than that, only the newest need to be added. */
  get maxRequests(): number {
    const { maxRequests, hasArchive } = this.deps;
    return hasArchive && maxRequests > 0 ? UNARCHIVED_MAX : maxRequests;
  }

  async add(webhookId: string, requests: readonly LoggedRequest[]): Promise<void> {
    if (this.maxRequests === 0 || requests.length === 0) return;
    const keys = this.keys.of(webhookId);
    const args = {
      maxRequests: this.maxRequests,
      maxBytes: MAX_BYTES,
      oldestId: oldestId((requests[0] as LoggedRequest).summary.receivedAt),
      ttlMs: TTL_MS,
      requestPrefix: keys.webhookRequest(webhookId, ''),
      ...(this.deps.hasArchive && { webhookId, nowMs: Date.now() }),
    };
    const log = [keys.webhookLog(webhookId), keys.webhookLogSizes(webhookId), ...indexes(keys, webhookId)];
    if (this.deps.hasArchive) log.push(keys.unarchivedRequests(webhookId), keys.dueWebhookLogs);
    await this.redis.logRequests(log.length, ...log, JSON.stringify(args), ...requests.flatMap(toArguments));
  }

  /** Newest first. */
  async list(webhookId: string, query: LogQuery, nowMs: number): Promise<LogPage> {
    const { limit, cursor } = query;
    const { log, isFiltered } = this.#indexFor(webhookId, query);
    const atOnce = isFiltered ? READ_AT_ONCE : limit;
    const { from, to } = rangeOf(query, nowMs);
    const requests: LogSummary[] = [];
    let last = cursor;
    for (let examined = 0; examined < EXAMINED_MAX; examined += atOnce) {
      const upper = last === undefined || (to !== undefined && to <= last) ? before(to) : `(${last}`;
      const ids = await this.redis.zrevrangebylex(log, upper, `[${from}`, 'LIMIT', 0, atOnce);
      for (const summary of await this.#summaries(webhookId, ids)) {
        if (isFiltered && !fits(summary, query)) continue;
        requests.push(summary);
        if (isFiltered && requests.length === limit) return { requests, next: summary.id };
      }
      last = ids.at(-1);
      if (ids.length < atOnce) return { requests };
      if (!isFiltered) return { requests, next: last };
    }
    return { requests, next: last, stoppedEarly: 'time' };
  }

  /** The shortest index with all requests of the query, and whether it may contain others. */
  #indexFor(webhookId: string, { outcomes, verification }: LogFilter): { log: string; isFiltered: boolean } {
    const { webhookLog, webhookRejections, webhookFiltered, webhookUnverified } = this.keys.of(webhookId);
    const [outcome] = outcomes?.length === 1 ? outcomes : [];
    if (verification === 'failed') return { log: webhookUnverified(webhookId), isFiltered: outcomes !== undefined };
    const isFiltered = verification !== undefined;
    if (outcome === 'rejected') return { log: webhookRejections(webhookId), isFiltered };
    if (outcome === 'filtered') return { log: webhookFiltered(webhookId), isFiltered };
    return { log: webhookLog(webhookId), isFiltered: isFiltered || outcomes !== undefined };
  }

  /** Oldest first, filtered by outcome if the filter has any. Examines at most `limit`.
   *  @param query its cursor is the ID before the first request
   *  @returns also the last examined ID; undefined at the end of the log */
  async listOldest(webhookId: string, query: LogQuery, nowMs: number): Promise<LogPage> {
    const { limit, cursor } = query;
    const { from, to } = rangeOf(query, nowMs);
    const lower = cursor === undefined || cursor < from ? `[${from}` : `(${cursor}`;
    const log = this.keys.of(webhookId).webhookLog(webhookId);
    const ids = await this.redis.zrangebylex(log, lower, before(to), 'LIMIT', 0, limit);
    const summaries = await this.#summaries(webhookId, ids);
    const requests = summaries.filter((summary) => fits(summary, query));
    return { requests, next: ids.length === limit ? ids.at(-1) : undefined };
  }

  async #summaries(webhookId: string, ids: readonly string[]): Promise<LogSummary[]> {
    if (ids.length === 0) return [];
    const reading = this.redis.pipeline();
    for (const id of ids) reading.hget(this.keys.of(webhookId).webhookRequest(webhookId, id), 'summary');
    const texts = replies<string | null>(await reading.exec());
    return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as LogSummary]));
  }

  /** Statistics of each webhook. */
  async stats(webhookIds: readonly string[], nowMs: number): Promise<LogCounts> {
    if (webhookIds.length === 0) return { stats: [] };
    const since = `[${oldestId(nowMs)}`;
    const commands = webhookIds.flatMap((id) => {
      const keys = this.keys.of(id);
      const log = keys.webhookLog(id);
      return [
        ['zrevrangebylex', log, '+', since, 'LIMIT', 0, 1],
        ...[log, ...indexes(keys, id)].map((index) => ['zlexcount', index, since, '+']),
      ];
    });
    const found = (await inPipelines<unknown>(this.redis, commands)).values();
    const stats = webhookIds.map(() => {
      const [newest] = found.next().value as string[];
      const lastAt = newest === undefined ? undefined : decodeTime(newest);
      const next = () => found.next().value as number;
      return { lastAt, requests: next(), rejected: next(), filtered: next(), unverified: next() };
    });
    return { stats };
  }

  async read(webhookId: string, requestId: string): Promise<LoggedRequest | undefined> {
    const fields = await this.redis.hgetallBuffer(this.keys.of(webhookId).webhookRequest(webhookId, requestId));
    if (!fields.summary) return undefined;
    const summary = JSON.parse(fields.summary.toString()) as LogSummary;
    const request = JSON.parse((fields.request as Buffer).toString()) as Pick<LoggedRequest, 'headers' | 'search'>;
    return {
      summary,
      ...request,
      body: summary.bodyBytes === undefined || summary.storedBody !== undefined ? undefined : fields.body,
    };
  }

  /** Deletes the log of a deleted webhook. */
  async remove(webhookId: string): Promise<void> {
    const ids = await this.redis.zrange(this.keys.of(webhookId).webhookLog(webhookId), '0', '-1');
    const keys = ids.map((id) => this.keys.of(webhookId).webhookRequest(webhookId, id));
    const partition = this.keys.of(webhookId);
    const { webhookLog, webhookLogSizes, unarchivedRequests } = partition;
    const all = [webhookLog, webhookLogSizes, ...(this.deps.hasArchive ? [unarchivedRequests] : [])];
    await this.redis.del(...all.map((keyOf) => keyOf(webhookId)), ...indexes(partition, webhookId), ...keys);
  }
}

type Indexes = Pick<PartitionKeyspace, 'webhookRejections' | 'webhookFiltered' | 'webhookUnverified'>;

/** Indexes of the log by result, in the scripts' order. */
function indexes(keys: Indexes, webhookId: string): string[] {
  return [keys.webhookRejections(webhookId), keys.webhookFiltered(webhookId), keys.webhookUnverified(webhookId)];
}

function fits(summary: LogSummary, { outcomes, verification }: LogFilter): boolean {
  if (outcomes && !outcomes.includes(summary.outcome)) return false;
  return verification === undefined || summary.verification?.result === verification;
}

function toArguments({ summary, headers, search, body = EMPTY }: LoggedRequest): (string | number | Buffer)[] {
  const summaryText = JSON.stringify(summary);
  const request = JSON.stringify({ headers, search });
  const { id, outcome, verification } = summary;
  const bytes = summaryText.length + request.length + body.length;
  return [id, bytes, outcome, verification?.result ?? '', summaryText, request, body];
}

/** ID prefixes that bound the filter's time range, excluding requests that are too old. */
function rangeOf({ after = 0, before }: LogFilter, nowMs: number): { from: string; to: string | undefined } {
  const from = encodeTime(Math.max(after, nowMs - TTL_MS), TIME_CHARS);
  return { from, to: before === undefined ? undefined : encodeTime(before, TIME_CHARS) };
}

function before(to: string | undefined): string {
  return to === undefined ? '+' : `(${to}`;
}

/** The lowest ID of a request that is not too old. */
function oldestId(nowMs: number): string {
  return encodeTime(nowMs - TTL_MS, TIME_CHARS);
}
