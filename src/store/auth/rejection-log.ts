/** Rejected attempts, apart from the audit log: anyone can cause any number of them, and they must not push changes out of the log. Attempts of a
 *  kind are one entry with a count; the last 1,000 entries are kept for 30 days. */
import { digestOf } from '../../model/auth/secret.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

export const MAX_REJECTIONS = 1_000;
const TTL_MS = 30 * 86_400_000;

export interface Rejection {
  /** The attempt: `sign-in` and the like. */
  action: string;
  /** Error code. */
  reason: string;
  /** Email address as it was typed, or empty. */
  name: string;
  /** An IPv4 address, or an IPv6 /64 network. */
  address: string;
}

export interface StoredRejection extends Rejection {
  /** The same for all attempts of a kind. */
  id: string;
  count: number;
  /** Unix milliseconds. */
  firstAt: number;
  lastAt: number;
  /** ID of the last request. */
  requestId: string;
  /** Cursor: increases with each rejection. */
  position: string;
}

export class RejectionLog {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async record({ action, reason, name, address }: Rejection, requestId: string, nowMs: number): Promise<void> {
    const rejection = { action, reason, name, address };
    const id = digestOf(JSON.stringify(rejection)).slice(0, 16);
    const args = { id, rejection, requestId, nowMs, maxEntries: MAX_REJECTIONS, ttlMs: TTL_MS };
    const { rejections, rejectionEntries } = this.#keys;
    await this.#redis.recordRejection(rejections, rejectionEntries, JSON.stringify(args));
  }

  /** The last repeated first.
   *  @param before position of the last entry of the page before */
  async list(limit: number, before?: string): Promise<StoredRejection[]> {
    const { rejections, rejectionEntries } = this.#keys;
    const from = before === undefined ? '+inf' : `(${before}`;
    const flat = await this.#redis.zrevrangebyscore(rejections, from, '-inf', 'WITHSCORES', 'LIMIT', 0, limit);
    const ids = flat.filter((_, at) => at % 2 === 0);
    if (ids.length === 0) return [];
    const texts = await this.#redis.hmget(rejectionEntries, ...ids);
    return ids.flatMap((id, at) => {
      const text = texts[at];
      // Removed in the meantime.
      if (!text) return [];
      return [
        { ...(JSON.parse(text) as Omit<StoredRejection, 'id' | 'position'>), id, position: flat[2 * at + 1] as string },
      ];
    });
  }
}
