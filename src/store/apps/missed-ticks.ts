/** Schedule ticks that started no run because no worker was there in time: the last few per function. */
import type { SkippedTicks } from '../../model/schedules/missed-ticks.ts';
import type { Redis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

const KEPT = 10;

export interface MissedTicks extends SkippedTicks {
  cron: string;
}

export class MissedTickLog extends Repository<Redis, { retentionMs: number }> {
  /** Idempotent; an entry that begins with the same tick is replaced. */
  async add(env: string, functionId: string, missed: MissedTicks): Promise<void> {
    const isOther = ({ cron, first }: MissedTicks) => cron !== missed.cron || first !== missed.first;
    const others = (await this.of(env, functionId)).filter(isOther);
    const kept = [missed, ...others].sort((a, b) => b.first - a.first).slice(0, KEPT);
    const key = this.keys.missedTicks(env);
    await this.redis.hset(key, functionId, JSON.stringify(kept));
    await this.redis.pexpire(key, this.deps.retentionMs);
  }

  /** Newest first. */
  async of(env: string, functionId: string): Promise<MissedTicks[]> {
    const text = await this.redis.hget(this.keys.missedTicks(env), functionId);
    return text ? (JSON.parse(text) as MissedTicks[]) : [];
  }
}
