/** Rejected attempts, separate from the audit log: anyone can cause any number of them, and they must not displace entries there.
 *  Attempts of the same kind form one entry with a count; the last 1,000 entries are kept for 30 days. */

import { digestOf } from '../../model/auth/secret.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { luaJson } from '../redis/lua-json.ts';
import { Repository } from '../redis/repository.ts';

export const MAX_REJECTIONS = 1_000;
const TTL_MS = 30 * DAY_MS;

export interface Rejection {
  /** The attempted action, such as `sign-in`. */
  action: string;
  /** Error code. */
  reason: string;
  /** Email address as typed, or empty. */
  name: string;
  /** An IPv4 address, or an IPv6 /64 network. */
  address: string;
}

export interface StoredRejection extends Rejection {
  /** Equal for all attempts of a kind. */
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

export class RejectionLog extends Repository {
  async record({ action, reason, name, address }: Rejection, requestId: string, nowMs: number): Promise<void> {
    const rejection = { action, reason, name, address };
    const id = digestOf(JSON.stringify(rejection)).slice(0, 16);
    const args = { id, rejection, requestId, nowMs, maxEntries: MAX_REJECTIONS, ttlMs: TTL_MS };
    const { rejections, rejectionEntries } = this.keys;
    await this.redis.recordRejection(rejections, rejectionEntries, luaJson(args));
  }

  /** Most recently repeated first.
   *  @param before position of the last entry of the previous page */
  async list(limit: number, before?: string): Promise<StoredRejection[]> {
    const { rejections, rejectionEntries } = this.keys;
    const from = before === undefined ? '+inf' : `(${before}`;
    const flat = await this.redis.zrevrangebyscore(rejections, from, '-inf', 'WITHSCORES', 'LIMIT', 0, limit);
    const ids = flat.filter((_, at) => at % 2 === 0);
    if (ids.length === 0) return [];
    const texts = await this.redis.hmget(rejectionEntries, ...ids);
    return ids.flatMap((id, at) => {
      const text = texts[at];
      // The entry was removed in the meantime.
      if (!text) return [];
      return [
        { ...(JSON.parse(text) as Omit<StoredRejection, 'id' | 'position'>), id, position: flat[2 * at + 1] as string },
      ];
    });
  }
}
