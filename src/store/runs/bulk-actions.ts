/** Bulk actions on runs: what they are asked to do, how far they are, and which of them are due to go on. */
import { ServiceError } from '../../errors.ts';
import type { BulkAction } from '../../model/runs/bulk-action.ts';
import { replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { memberOf } from './active-runs.ts';

/** Per environment: those in progress, and all. */
const ACTIVE_MAX = 10;
const KEPT_MAX = 200;

export interface DueBulkAction {
  env: string;
  id: string;
}

export class BulkActions {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #retentionMs: number;

  constructor(redis: ScriptedRedis, keys: Keyspace, retentionMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#retentionMs = retentionMs;
  }

  /** Newest first. */
  async all(env: string): Promise<BulkAction[]> {
    const texts = await this.#redis.hvals(this.#keys.bulkActions(env));
    return texts.map((text) => JSON.parse(text) as BulkAction).sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async read(env: string, id: string): Promise<BulkAction | undefined> {
    const text = await this.#redis.hget(this.#keys.bulkActions(env), id);
    return text === null ? undefined : (JSON.parse(text) as BulkAction);
  }

  /** @throws ServiceError quota_exceeded */
  async add(action: BulkAction): Promise<void> {
    const { env } = action.selection;
    const all = await this.all(env);
    const active = all.filter(isInProgress);
    if (active.length >= ACTIVE_MAX) {
      throw new ServiceError('quota_exceeded', {
        detail: `${ACTIVE_MAX} bulk actions of the environment are in progress; cancel one, or wait until one is done`,
        facts: { allowed: ACTIVE_MAX, there: active.length },
      });
    }
    const surplus = all.filter((one) => !isInProgress(one)).slice(KEPT_MAX - ACTIVE_MAX - 1);
    const key = this.#keys.bulkActions(env);
    const writing = this.#redis.multi().hset(key, action.id, JSON.stringify(action));
    if (surplus.length > 0) writing.hdel(key, ...surplus.map(({ id }) => id));
    writing.pexpire(key, this.#retentionMs);
    replies(await writing.zadd(this.#keys.dueBulkActions, action.createdAt, memberOf(env, action.id)).exec());
  }

  /** @param change returns undefined when there is nothing to change
   *  @returns the changed one; undefined: it is not there, or was not changed */
  async change(
    env: string,
    id: string,
    change: (action: BulkAction) => BulkAction | undefined,
  ): Promise<BulkAction | undefined> {
    const key = this.#keys.bulkActions(env);
    for (;;) {
      const text = await this.#redis.hget(key, id);
      const changed = text === null ? undefined : change(JSON.parse(text) as BulkAction);
      if (text === null || !changed) return undefined;
      if ((await this.#redis.replaceField(key, id, text, JSON.stringify(changed))) !== 1) continue;
      // It is kept as long while it goes on.
      await this.#redis.pexpire(key, this.#retentionMs);
      return changed;
    }
  }

  /** The longest overdue first. */
  async due(nowMs: number, limit: number): Promise<DueBulkAction[]> {
    const members = await this.#redis.zrangebyscore(this.#keys.dueBulkActions, '-inf', nowMs, 'LIMIT', 0, limit);
    return members.map((member) => {
      const slash = member.lastIndexOf('/');
      return { env: member.slice(0, slash), id: member.slice(slash + 1) };
    });
  }

  async nextDueAt(): Promise<number | undefined> {
    const [, score] = await this.#redis.zrange(this.#keys.dueBulkActions, 0, '0', 'WITHSCORES');
    return score === undefined ? undefined : Number(score);
  }

  /** @param dueAt undefined: it is done */
  async setDue(env: string, id: string, dueAt: number | undefined): Promise<void> {
    const member = memberOf(env, id);
    if (dueAt === undefined) await this.#redis.zrem(this.#keys.dueBulkActions, member);
    else await this.#redis.zadd(this.#keys.dueBulkActions, 'XX', dueAt, member);
  }
}

function isInProgress({ status }: BulkAction): boolean {
  return status === 'running' || status === 'paused';
}
