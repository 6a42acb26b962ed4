/** Remembers since when the service has accepted webhook requests without interruption: a silence that includes an interruption is not
 *  detected. */
import { DAY_MS } from '../../model/values/time.ts';
import { replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** A shorter break is no interruption: a deploy takes less. */
const BREAK_MS = 5 * 60_000;
const TTL_MS = 30 * DAY_MS;

export class WebhookWatch extends Repository {
  /** Call every minute while web processes are running.
   *  @returns since when they have been running, Unix milliseconds */
  async noteRunning(nowMs: number): Promise<number> {
    const key = this.keys.webhookWatch;
    const [since, seen] = await this.redis.hmget(key, 'since', 'seen');
    const isGoingOn = since && seen && nowMs - Number(seen) <= BREAK_MS;
    const present = isGoingOn ? Number(since) : nowMs;
    replies(await this.redis.multi().hset(key, { since: present, seen: nowMs }).pexpire(key, TTL_MS).exec());
    return present;
  }
}
