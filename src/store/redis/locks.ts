/** Locks for work that only one process should do at a time. A lock expires if its process dies, so work that must never run twice at
 *  once needs more. */
import { randomUUID } from 'node:crypto';
import { Repository } from './repository.ts';

/** Number of renewals within the lifetime of a lock. */
const RENEWALS = 3;
/** Share of the lifetime, counted from the last renewal, during which the holder may rely on the lock. */
const SURE = 0.9;

export class Locks extends Repository {
  /** Does nothing while another process holds the lock.
   *  @param work gets a signal that is aborted when the lock may have expired, and another process may hold it
   *  @returns whether the work was done */
  async withLock(name: string, ttlMs: number, work: (lost: AbortSignal) => Promise<void>): Promise<boolean> {
    const key = this.keys.lock(name);
    const token = randomUUID();
    const lost = new AbortController();
    const expiry = setTimeout(() => lost.abort(), ttlMs * SURE);
    const renew = async () => {
      const sentAt = performance.now();
      const isHeld = (await this.redis.renewLock(key, token, ttlMs)) === 1;
      if (!isHeld) lost.abort();
      else if (performance.now() - sentAt < ttlMs * (1 - SURE)) expiry.refresh();
    };
    try {
      if ((await this.redis.set(key, token, 'PX', ttlMs, 'NX')) !== 'OK') return false;
      // While Redis is down, renewals fail and the lock expires.
      const renewal = setInterval(() => void renew().catch(() => undefined), ttlMs / RENEWALS);
      try {
        await work(lost.signal);
      } finally {
        clearInterval(renewal);
        await this.redis.renewLock(key, token, 0);
      }
      return true;
    } finally {
      clearTimeout(expiry);
    }
  }
}
