/** Replays of the logged requests of webhooks: what to replay, how far it is, and the last results of each status. */
import { ServiceError } from '../../errors.ts';
import { newId } from '../../model/ids.ts';
import { replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import type { LogOutcome } from './webhook-log.ts';

/** In progress or paused. */
export const REPLAYS_MAX = 20;
/** Together with those that have ended. */
const KEPT_MAX = 200;
const RESULTS_MAX = 1_000;
const DAY_MS = 86_400_000;
const ACTIVE_TTL_MS = 30 * DAY_MS;
const ENDED_TTL_MS = 7 * DAY_MS;
const INDEX_TTL_MS = 40 * DAY_MS;

export const REPLAY_STATES = ['running', 'paused', 'done', 'cancelled'] as const;
export type ReplayState = (typeof REPLAY_STATES)[number];
export const REPLAY_STATUSES = ['done', 'failed', 'skipped'] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];

/** What to replay, and how fast. */
export interface ReplaySpec {
  id: string;
  webhookId: string;
  /** Receipt, Unix milliseconds: from inclusive, to exclusive. */
  from: number | undefined;
  to: number;
  outcomes: LogOutcome[] | undefined;
  /** Error codes and other reasons; absent: all. */
  reasons?: string[] | undefined;
  /** In their order; undefined: all of the time range. */
  requestIds: string[] | undefined;
  hasDraft: boolean;
  /** Requests per second. */
  rate: number;
  /** Number of requests when it began; `isExact` is false: there are more. */
  total: { count: number; isExact: boolean };
  createdAt: number;
}

/** Code that replaces a webhook's. */
export interface DraftCode {
  /** Absent: the webhook's. */
  transform?: string | undefined;
  /** null: none; absent: the webhook's. */
  filter?: string | null | undefined;
}

export interface WebhookReplay extends ReplaySpec {
  /** What replaces the webhook's; gone when the replay has ended. */
  draft: DraftCode | undefined;
  state: ReplayState;
  /** ID of the last request that has a result; '': none has. */
  position: string;
  /** ID from which the ID of the next request's event derives. */
  parent: string;
  /** Error code of what it waits for. */
  waiting: string | undefined;
  counts: Record<ReplayStatus, number>;
  endedAt: number | undefined;
}

export interface ReplayResult {
  requestId: string;
  /** Internal ID of the event: of an earlier one for a duplicate. */
  eventId?: string | undefined;
  /** Error code, or why it made no event. */
  reason?: string | undefined;
  message?: string | undefined;
}

export class WebhookReplays {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** @throws ServiceError quota_exceeded */
  async add(spec: ReplaySpec, draft: DraftCode | undefined): Promise<WebhookReplay> {
    const { id, createdAt } = spec;
    const active = new Set(await this.active());
    if (active.size >= REPLAYS_MAX) {
      throw new ServiceError('quota_exceeded', {
        detail: `${REPLAYS_MAX} replays are in progress or paused; cancel one, or wait until one is done`,
        facts: { allowed: REPLAYS_MAX, there: active.size },
      });
    }
    const ended = (await this.#redis.zrange(this.#keys.webhookReplays, '0', '-1')).filter((one) => !active.has(one));
    const surplus = ended.slice(0, Math.max(0, ended.length - (KEPT_MAX - REPLAYS_MAX)));
    const key = this.#keys.webhookReplay(id);
    const fields = { spec: JSON.stringify(spec), state: 'running', position: '', parent: newId(createdAt) };
    const writing = this.#redis.multi().hset(key, { ...fields, ...draftFields(draft) });
    writing.pexpire(key, ACTIVE_TTL_MS);
    writing.zadd(this.#keys.webhookReplays, createdAt, id).zadd(this.#keys.activeWebhookReplays, createdAt, id);
    writing.pexpire(this.#keys.webhookReplays, INDEX_TTL_MS);
    if (surplus.length > 0) {
      writing.zrem(this.#keys.webhookReplays, ...surplus).del(...surplus.flatMap((one) => this.#keysOf(one)));
    }
    replies(await writing.exec());
    return (await this.read(id)) as WebhookReplay;
  }

  /** IDs of those in progress or paused, oldest first. */
  async active(): Promise<string[]> {
    return this.#redis.zrange(this.#keys.activeWebhookReplays, '0', '-1');
  }

  async read(id: string): Promise<WebhookReplay | undefined> {
    return fromFields(await this.#redis.hgetall(this.#keys.webhookReplay(id)));
  }

  async state(id: string): Promise<ReplayState | undefined> {
    return ((await this.#redis.hget(this.#keys.webhookReplay(id), 'state')) ?? undefined) as ReplayState | undefined;
  }

  /** Of a webhook, newest first. */
  async all(webhookId: string): Promise<WebhookReplay[]> {
    const ids = await this.#redis.zrevrange(this.#keys.webhookReplays, '0', '-1');
    if (ids.length === 0) return [];
    const reading = this.#redis.pipeline();
    for (const id of ids) reading.hgetall(this.#keys.webhookReplay(id));
    const found = replies<Record<string, string>>(await reading.exec()).map(fromFields);
    return found.filter((one) => one?.webhookId === webhookId) as WebhookReplay[];
  }

  /** Records the result of a request and moves on.
   *  @returns the state; undefined: another process has moved it on, or it is gone */
  async record(
    { id, position }: Pick<WebhookReplay, 'id' | 'position'>,
    { status, parent, ...result }: ReplayResult & { status: ReplayStatus; parent: string },
  ): Promise<ReplayState | undefined> {
    const state = await this.#redis.recordReplayed(
      this.#keys.webhookReplay(id),
      this.#keys.webhookReplayResults(id, status),
      position,
      result.requestId,
      parent,
      status,
      JSON.stringify(result),
      RESULTS_MAX,
      ACTIVE_TTL_MS,
    );
    return (state ?? undefined) as ReplayState | undefined;
  }

  /** Says what a running replay waits for. */
  async noteWaiting(id: string, code: string): Promise<void> {
    const key = this.#keys.webhookReplay(id);
    if ((await this.#redis.exists(key)) === 1) await this.#redis.hset(key, 'waiting', code);
  }

  /** The last results of a status, oldest first. */
  async results(id: string, status: ReplayStatus): Promise<ReplayResult[]> {
    const texts = await this.#redis.lrange(this.#keys.webhookReplayResults(id, status), 0, -1);
    return texts.map((text) => JSON.parse(text) as ReplayResult);
  }

  /** @returns whether it was in the state before */
  async change(id: string, from: ReplayState, to: ReplayState): Promise<boolean> {
    const key = this.#keys.webhookReplay(id);
    if ((await this.#redis.replaceField(key, 'state', from, to)) !== 1) return false;
    if (to === 'done' || to === 'cancelled') await this.tidy(id);
    return true;
  }

  /** Removes what an ended or lost replay need not have. */
  async tidy(id: string): Promise<void> {
    const key = this.#keys.webhookReplay(id);
    const writing = this.#redis
      .multi()
      .hdel(key, 'draft', 'draftFilter', 'waiting')
      .zrem(this.#keys.activeWebhookReplays, id);
    for (const one of this.#keysOf(id)) writing.pexpire(one, ENDED_TTL_MS);
    replies(await writing.exec());
    if ((await this.#redis.exists(key)) === 1) await this.#redis.hsetnx(key, 'endedAt', Date.now());
  }

  #keysOf(id: string): string[] {
    const results = REPLAY_STATUSES.map((status) => this.#keys.webhookReplayResults(id, status));
    return [this.#keys.webhookReplay(id), ...results];
  }
}

function fromFields(fields: Record<string, string>): WebhookReplay | undefined {
  if (fields.spec === undefined) return undefined;
  const { spec, state, position = '', parent = '', waiting, endedAt } = fields;
  const countOf = (status: ReplayStatus) => Number(fields[status] ?? 0);
  return {
    ...(JSON.parse(spec) as ReplaySpec),
    draft: draftFrom(fields),
    state: state as ReplayState,
    position,
    parent,
    waiting: waiting || undefined,
    counts: { done: countOf('done'), failed: countOf('failed'), skipped: countOf('skipped') },
    endedAt: endedAt === undefined ? undefined : Number(endedAt),
  };
}

/** An empty filter says that there is none. */
function draftFields({ transform, filter }: DraftCode = {}): Record<string, string> {
  return {
    ...(transform !== undefined && { draft: transform }),
    ...(filter !== undefined && { draftFilter: filter ?? '' }),
  };
}

function draftFrom({ draft: transform, draftFilter }: Record<string, string>): DraftCode | undefined {
  if (transform === undefined && draftFilter === undefined) return undefined;
  return { transform, filter: draftFilter === undefined ? undefined : draftFilter || null };
}
