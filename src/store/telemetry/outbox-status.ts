/** State of the outbox in an app's Postgres, as the worker that counts it reports it. */
import { HOUR_MS } from '../../model/values/time.ts';
import { replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

const TTL_MS = HOUR_MS;

export interface OutboxReport {
  waiting: number;
  refused: number;
  uncertain: number;
  /** When the row that has waited longest was added, Unix milliseconds; undefined: none waits. */
  oldestAt: number | undefined;
  /** Size of the table. */
  bytes: number;
  /** Why it could not be counted the last time. */
  problem: string | undefined;
}

export class OutboxStatus extends Repository {
  async report(
    counts: { waiting: number; refused: number; uncertain: number; oldestSeconds: number; bytes: number },
    nowMs: number,
  ): Promise<void> {
    const { waiting, refused, uncertain, oldestSeconds, bytes } = counts;
    const oldest = waiting === 0 ? '' : String(Math.round(nowMs - 1_000 * oldestSeconds));
    await this.#write({ waiting, refused, uncertain, bytes, oldest, problem: '' });
  }

  /** Keeps the last counts. */
  async reportFailure(problem: string): Promise<void> {
    await this.#write({ problem });
  }

  /** undefined: no worker has an outbox. */
  async read(): Promise<OutboxReport | undefined> {
    const { waiting, refused, uncertain, bytes, oldest, problem } = await this.redis.hgetall(this.keys.outboxStatus);
    if (problem === undefined) return undefined;
    return {
      waiting: Number(waiting ?? 0),
      refused: Number(refused ?? 0),
      uncertain: Number(uncertain ?? 0),
      oldestAt: oldest ? Number(oldest) : undefined,
      bytes: Number(bytes ?? 0),
      problem: problem || undefined,
    };
  }

  async #write(fields: Record<string, string | number>): Promise<void> {
    const key = this.keys.outboxStatus;
    replies(await this.redis.multi().hset(key, fields).pexpire(key, TTL_MS).exec());
  }
}
