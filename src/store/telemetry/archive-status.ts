/** Progress of the archive, as reported by the workers that ship to it. */
import { DAY_MS } from '../../model/values/time.ts';
import { replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

const TTL_MS = 30 * DAY_MS;
const PARTITION = /^\d+$/;

export interface ArchiveReport {
  /** Receipt of each partition's oldest event that is due and not archived, Unix milliseconds; undefined if there is no such event. */
  oldest: ReadonlyMap<number, number | undefined>;
  /** Unix milliseconds; undefined: unchanged. */
  shippedAt?: number | undefined;
  failedAt?: number | undefined;
}

export class ArchiveStatus extends Repository {
  async report({ oldest, shippedAt, failedAt }: ArchiveReport): Promise<void> {
    const fields = [...oldest].flatMap(([partition, at]) => [String(partition), at === undefined ? '' : String(at)]);
    if (shippedAt !== undefined) fields.push('shipped', String(shippedAt));
    if (failedAt !== undefined) fields.push('failed', String(failedAt));
    if (fields.length === 0) return;
    const key = this.keys.archiveStatus;
    replies(
      await this.redis
        .multi()
        .hset(key, ...fields)
        .pexpire(key, TTL_MS)
        .exec(),
    );
  }

  /** Merges the reports of all workers. */
  async read(): Promise<ArchiveReport> {
    const fields = Object.entries(await this.redis.hgetall(this.keys.archiveStatus));
    const of = (name: string) => Number(fields.find(([field]) => field === name)?.[1]) || undefined;
    const partitions = fields.filter(([field]) => PARTITION.test(field));
    return {
      oldest: new Map(partitions.map(([field, at]) => [Number(field), at === '' ? undefined : Number(at)])),
      shippedAt: of('shipped'),
      failedAt: of('failed'),
    };
  }

  /** How long the oldest due event has waited.
   *  @param hotMs age at which events are due */
  async behindMs(hotMs: number, nowMs: number): Promise<number> {
    const { oldest } = await this.read();
    const times = [...oldest.values()].filter((at) => at !== undefined);
    return times.reduce((most, at) => Math.max(most, nowMs - hotMs - at), 0);
  }
}
