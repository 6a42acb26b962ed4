/** Bulk cancellations, and which of them are due to look for runs. */
import { ServiceError } from '../../errors.ts';
import { type Cancellation, isSame } from '../../model/runs/cancellation.ts';
import { type Redis, replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import { newest, type Position, type TimeRange } from '../redis/pagination.ts';
import { memberOf } from './active-runs.ts';

/** Per environment: those that still look for runs, and all. */
export const ACTIVE_MAX = 100;
const KEPT_MAX = 1_000;

export class Cancellations {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #retentionMs: number;

  constructor(redis: Redis, keys: Keyspace, retentionMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#retentionMs = retentionMs;
  }

  /** Newest first. */
  async all(env: string): Promise<Cancellation[]> {
    const texts = await this.#redis.hvals(this.#keys.cancellations(env));
    return texts.map((text) => JSON.parse(text) as Cancellation).sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async read(env: string, id: string): Promise<Cancellation | undefined> {
    const text = await this.#redis.hget(this.#keys.cancellations(env), id);
    return text === null ? undefined : (JSON.parse(text) as Cancellation);
  }

  /** @returns the same one, if it is still looking for runs
   *  @throws ServiceError quota_exceeded */
  async add(cancellation: Cancellation): Promise<Cancellation> {
    const { env, id, createdAt } = cancellation;
    const all = await this.all(env);
    const active = all.filter(({ doneAt }) => doneAt === undefined);
    const same = active.find((one) => isSame(one, cancellation));
    if (same) return same;
    if (active.length >= ACTIVE_MAX) {
      throw new ServiceError('quota_exceeded', {
        detail: `${ACTIVE_MAX} cancellations are in progress; delete one, or wait until one is done`,
        facts: { allowed: ACTIVE_MAX, there: active.length },
      });
    }
    const surplus = all.filter(({ doneAt }) => doneAt !== undefined).slice(KEPT_MAX - ACTIVE_MAX);
    const key = this.#keys.cancellations(env);
    const writing = this.#redis.multi().hset(key, id, JSON.stringify(cancellation));
    if (surplus.length > 0) writing.hdel(key, ...surplus.map((one) => one.id));
    const last = Math.max(createdAt, ...[cancellation, ...all].map(({ before }) => before));
    writing.pexpire(key, last - createdAt + this.#retentionMs);
    replies(await writing.zadd(this.#keys.dueCancellations, createdAt, memberOf(env, id)).exec());
    return cancellation;
  }

  /** @returns it; undefined: there is none */
  async remove(env: string, id: string): Promise<Cancellation | undefined> {
    const found = await this.read(env, id);
    const removal = this.#redis.multi().hdel(this.#keys.cancellations(env), id);
    replies(await removal.zrem(this.#keys.dueCancellations, memberOf(env, id)).exec());
    return found;
  }

  /** The longest overdue first. */
  async due(nowMs: number, limit: number): Promise<{ env: string; id: string }[]> {
    const members = await this.#redis.zrangebyscore(this.#keys.dueCancellations, '-inf', nowMs, 'LIMIT', 0, limit);
    return members.map((member) => {
      const slash = member.lastIndexOf('/');
      return { env: member.slice(0, slash), id: member.slice(slash + 1) };
    });
  }

  /** Stores its progress, unless it was deleted in the meantime.
   *  @param dueAt when it goes on; undefined: it is done, or there is none */
  async save(env: string, id: string, progress: Cancellation | undefined, dueAt: number | undefined): Promise<void> {
    const key = this.#keys.cancellations(env);
    const isThere = progress !== undefined && (await this.#redis.hexists(key, id)) === 1;
    const writing = this.#redis.multi();
    if (isThere) writing.hset(key, id, JSON.stringify(progress));
    if (isThere && dueAt !== undefined) writing.zadd(this.#keys.dueCancellations, 'XX', dueAt, memberOf(env, id));
    else writing.zrem(this.#keys.dueCancellations, memberOf(env, id));
    replies(await writing.exec());
  }

  /** Active runs of the function, newest first. */
  activeRuns({ env, functionId }: Cancellation, timeRange: TimeRange, limit: number): Promise<Position[]> {
    const indexes = this.#keys.all().map((keys) => keys.runIndex(env, 'active', functionId));
    return newest(this.#redis, indexes, timeRange, limit);
  }
}
