/** Runs that have not ended, by the time of their next reconciliation. */
import { type Redis, replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

export class ActiveRuns {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #key: string;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
    this.#key = keys.activeRuns;
  }

  /** Runs whose reconciliation is due, the longest overdue first. */
  async dueForReconciliation(nowMs: number, limit: number): Promise<{ env: string; runId: string }[]> {
    const members = await this.#redis.zrangebyscore(this.#key, '-inf', nowMs, 'LIMIT', 0, limit);
    return members.map((member) => {
      const slash = member.lastIndexOf('/');
      return { env: member.slice(0, slash), runId: member.slice(slash + 1) };
    });
  }

  async count(): Promise<number> {
    return this.#redis.zcard(this.#key);
  }

  /** Sets the time of the next reconciliation, if the run is still active. */
  async postpone(env: string, runId: string, untilMs: number): Promise<void> {
    await this.#redis.zadd(this.#key, 'XX', untilMs, memberOf(env, runId));
  }

  async remove(env: string, runId: string): Promise<void> {
    const forgetting = this.#redis.multi().zrem(this.#key, memberOf(env, runId));
    replies(await forgetting.zrem(this.#keys.activeRunsIn(env), runId).exec());
  }
}

/** Member of `active-runs`, which has the runs of all environments. */
export function memberOf(env: string, id: string): string {
  return `${env}/${id}`;
}
