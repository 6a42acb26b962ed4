/** The last requests of each webhook, with every outcome. Bodies are stored byte for byte. */
import type { IncomingHttpHeaders } from 'node:http';
import { decodeTime, encodeTime } from 'ulid';
import { inPipelines, replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

const TTL_MS = 7 * 86_400_000;
const MAX_BYTES = 32 * 1_048_576;
/** Leading characters of a ULID, which encode the time. */
const TIME_CHARS = 10;
const EMPTY = Buffer.alloc(0);

/** accepted: an event was created; ignored: the transform returned null; filtered: by the list of event names; held: the event waits for an
 *  environment; rejected: the provider got an error. */
export const LOG_OUTCOMES = ['accepted', 'ignored', 'filtered', 'held', 'rejected'] as const;
export type LogOutcome = (typeof LOG_OUTCOMES)[number];

export interface LogSummary {
  /** Request ID: a ULID, also in the response's `x-request-id`. */
  id: string;
  /** Unix milliseconds. */
  receivedAt: number;
  method: string;
  ip: string;
  outcome: LogOutcome;
  /** HTTP status of the response. */
  status: number;
  /** Error code, the reason why the event is held, or event_refused; absent on success. */
  reason?: string | undefined;
  message?: string | undefined;
  eventName?: string | undefined;
  ids: string[];
  console: { level: string; text: string }[];
  durationMs: number;
  /** Bytes of the body; absent: it was not read completely and is not stored. */
  bodyBytes?: number | undefined;
  /** The logged request that this one repeats. */
  rerunOf?: string | undefined;
}

export interface LoggedRequest {
  summary: LogSummary;
  headers: IncomingHttpHeaders;
  /** The query string. */
  search: string;
  /** Absent: it was not read completely. */
  body?: Buffer | undefined;
}

/** Statistics of the logged requests. */
export interface LogStats {
  /** Receipt of the last request, Unix milliseconds; undefined: none. */
  lastAt: number | undefined;
  requests: number;
  rejected: number;
}

export class WebhookLog {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #maxRequests: number;

  constructor(redis: ScriptedRedis, keys: Keyspace, maxRequests: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#maxRequests = maxRequests;
  }

  /** Maximum number of requests in the log of a webhook: of more than that, only the newest need to be added. */
  get maxRequests(): number {
    return this.#maxRequests;
  }

  /** Adds requests of one webhook. */
  async add(webhookId: string, requests: readonly LoggedRequest[]): Promise<void> {
    if (this.#maxRequests === 0 || requests.length === 0) return;
    const args = {
      maxRequests: this.#maxRequests,
      maxBytes: MAX_BYTES,
      oldestId: oldestId((requests[0] as LoggedRequest).summary.receivedAt),
      ttlMs: TTL_MS,
      requestPrefix: this.#keys.of(webhookId).webhookRequest(webhookId, ''),
    };
    await this.#redis.logRequests(
      this.#keys.of(webhookId).webhookLog(webhookId),
      this.#keys.of(webhookId).webhookLogSizes(webhookId),
      this.#keys.of(webhookId).webhookRejections(webhookId),
      JSON.stringify(args),
      ...requests.flatMap(toArguments),
    );
  }

  /** Newest first.
   *  @param before ID of the last request of the page before */
  async list(webhookId: string, limit: number, before: string | undefined, nowMs: number): Promise<LogSummary[]> {
    const from = before === undefined ? '+' : `(${before}`;
    const log = this.#keys.of(webhookId).webhookLog(webhookId);
    const ids = await this.#redis.zrevrangebylex(log, from, `[${oldestId(nowMs)}`, 'LIMIT', 0, limit);
    if (ids.length === 0) return [];
    const reading = this.#redis.pipeline();
    for (const id of ids) reading.hget(this.#keys.of(webhookId).webhookRequest(webhookId, id), 'summary');
    const texts = replies<string | null>(await reading.exec());
    return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as LogSummary]));
  }

  /** Statistics of each webhook, in the order of the IDs. */
  async stats(webhookIds: readonly string[], nowMs: number): Promise<LogStats[]> {
    if (webhookIds.length === 0) return [];
    const since = `[${oldestId(nowMs)}`;
    const commands = webhookIds.flatMap((id) => {
      const { webhookLog, webhookRejections } = this.#keys.of(id);
      return [
        ['zrevrangebylex', webhookLog(id), '+', since, 'LIMIT', 0, 1],
        ['zlexcount', webhookLog(id), since, '+'],
        ['zlexcount', webhookRejections(id), since, '+'],
      ];
    });
    const found = (await inPipelines<unknown>(this.#redis, commands)).values();
    return webhookIds.map(() => {
      const [newest] = found.next().value as string[];
      const lastAt = newest === undefined ? undefined : decodeTime(newest);
      return { lastAt, requests: found.next().value as number, rejected: found.next().value as number };
    });
  }

  async read(webhookId: string, requestId: string): Promise<LoggedRequest | undefined> {
    const fields = await this.#redis.hgetallBuffer(this.#keys.of(webhookId).webhookRequest(webhookId, requestId));
    if (!fields.summary) return undefined;
    const summary = JSON.parse(fields.summary.toString()) as LogSummary;
    const request = JSON.parse((fields.request as Buffer).toString()) as Pick<LoggedRequest, 'headers' | 'search'>;
    return { summary, ...request, body: summary.bodyBytes === undefined ? undefined : fields.body };
  }

  /** Deletes the log of a deleted webhook. */
  async remove(webhookId: string): Promise<void> {
    const ids = await this.#redis.zrange(this.#keys.of(webhookId).webhookLog(webhookId), '0', '-1');
    const keys = ids.map((id) => this.#keys.of(webhookId).webhookRequest(webhookId, id));
    const { webhookLog, webhookLogSizes, webhookRejections } = this.#keys.of(webhookId);
    await this.#redis.del(webhookLog(webhookId), webhookLogSizes(webhookId), webhookRejections(webhookId), ...keys);
  }
}

function toArguments({ summary, headers, search, body = EMPTY }: LoggedRequest): (string | number | Buffer)[] {
  const summaryText = JSON.stringify(summary);
  const request = JSON.stringify({ headers, search });
  return [summary.id, summaryText.length + request.length + body.length, summary.outcome, summaryText, request, body];
}

/** The lowest ID of a request that is young enough. */
function oldestId(nowMs: number): string {
  return encodeTime(nowMs - TTL_MS, TIME_CHARS);
}
