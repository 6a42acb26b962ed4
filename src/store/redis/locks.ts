/** Locks for work that only one process should do at a time. A lock expires if its process dies, so work that must never run twice at
 *  once needs more. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import { Repository } from './repository.ts';

/** Number of renewals within the lifetime of a lock. */
const RENEWALS = 3;
/** Lifetime of the lock of a change that waits for its turn. */
const TURN_MS = 10_000;
/** Longer than the lifetime, because a process that dies keeps its lock. */
const TURN_WAIT_MS = 15_000;
const TURN_POLL_MS = 20;
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

  /** Waits until no other process holds the lock. The work is done again if the process was stopped for so long that another may have had
   *  its turn meanwhile.
   *  @throws ServiceError overloaded if others hold it for too long, or the error of `work` */
  async inTurn<Result>(
    name: string,
    work: (lost: AbortSignal) => Promise<Result>,
    { ttlMs = TURN_MS, waitMs = TURN_WAIT_MS } = {},
  ): Promise<Result> {
    const lastTryAt = performance.now() + waitMs;
    let done: { result: Result } | undefined;
    while (true) {
      const hadTurn = await this.withLock(name, ttlMs, async (lost) => {
        const result = await work(lost);
        if (!lost.aborted) done = { result };
      });
      if (done) return done.result;
      if (performance.now() > lastTryAt) {
        throw new ServiceError('overloaded', { detail: 'changes before this one take too long; try again' });
      }
      if (!hadTurn) await sleep(TURN_POLL_MS);
    }
  }
}
