/** Attempts that were refused, apart from the audit log: anybody may cause any number of them, and none pushes a change out of the log.
 *  Those of a kind are one entry with a count; the thousand that came last are kept, for 30 days. */
import { digestOf } from '../../model/auth/secret.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

export const MAX_REJECTIONS = 1_000;
const KEPT_MS = 30 * 86_400_000;

export interface Rejection {
  /** What was attempted: `sign-in` and the like. */
  action: string;
  /** Why it was refused: a code of the catalogue. */
  reason: string;
  /** As whom: an email address as it was typed, or nothing. */
  name: string;
  /** An IPv4 address, or an IPv6 network of a /64. */
  address: string;
}

export interface StoredRejection extends Rejection {
  /** The same for all of a kind. */
  id: string;
  count: number;
  /** Unix milliseconds. */
  firstAt: number;
  lastAt: number;
  /** The last request's. */
  requestId: string;
  /** Where a list goes on after it: grows from refusal to refusal. */
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
    const args = { id, rejection, requestId, nowMs, maxEntries: MAX_REJECTIONS, ttlMs: KEPT_MS };
    const { rejections, rejectionEntries } = this.#keys;
    await this.#redis.recordRejection(rejections, rejectionEntries, JSON.stringify(args));
  }

  /** Those that were repeated last come first.
   *  @param before the position that ended the page before */
  async list(limit: number, before?: string): Promise<StoredRejection[]> {
    const { rejections: refusals, rejectionEntries: refusalCounts } = this.#keys;
    const from = before === undefined ? '+inf' : `(${before}`;
    const flat = await this.#redis.zrevrangebyscore(refusals, from, '-inf', 'WITHSCORES', 'LIMIT', 0, limit);
    const ids = flat.filter((_, at) => at % 2 === 0);
    if (ids.length === 0) return [];
    const texts = await this.#redis.hmget(refusalCounts, ...ids);
    return ids.flatMap((id, at) => {
      const text = texts[at];
      // Pushed out meanwhile.
      if (!text) return [];
      return [
        { ...(JSON.parse(text) as Omit<StoredRejection, 'id' | 'position'>), id, position: flat[2 * at + 1] as string },
      ];
    });
  }
}
