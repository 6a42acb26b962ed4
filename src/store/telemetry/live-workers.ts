/** The workers that share the partitions. Each renews its entry every second; a worker whose entry has not changed for a few seconds of
 *  the reader's own clock is considered gone, so clocks need not agree. */
import { machineTime } from '../../model/values/clock.ts';
import { replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** A worker silent for this long is gone. If it was only busy, two workers share its partitions for a moment, which does no harm. */
const GONE_MS = 4_000;
/** How long entries of workers that ended without leaving are kept. */
const KEPT_MS = 60_000;

interface SeenEntry {
  score: string;
  /** Monotonic, milliseconds. */
  at: number;
}

export class LiveWorkers extends Repository {
  readonly #seen = new Map<string, SeenEntry>();

  /** Renews the entry of a worker. @returns the IDs of all live workers */
  async renew(id: string): Promise<string[]> {
    const { liveWorkers } = this.keys;
    const now = machineTime();
    const renewing = this.redis.multi().zadd(liveWorkers, now, id);
    renewing.zremrangebyscore(liveWorkers, '-inf', now - KEPT_MS).pexpire(liveWorkers, KEPT_MS);
    const all = replies<unknown>(await renewing.zrange(liveWorkers, 0, '-1', 'WITHSCORES').exec()).at(-1) as string[];
    return this.#live(all, performance.now());
  }

  async leave(id: string): Promise<void> {
    await this.redis.zrem(this.keys.liveWorkers, id);
  }

  /** @param all ID, score, ID, score, … */
  #live(all: readonly string[], nowMs: number): string[] {
    const scores = new Map(
      Array.from({ length: all.length / 2 }, (_, i) => [all[2 * i] as string, all[2 * i + 1] as string]),
    );
    for (const id of this.#seen.keys()) if (!scores.has(id)) this.#seen.delete(id);
    for (const [id, score] of scores) {
      if (this.#seen.get(id)?.score !== score) this.#seen.set(id, { score, at: nowMs });
    }
    return [...this.#seen].filter(([, { at }]) => nowMs - at < GONE_MS).map(([id]) => id);
  }
}
