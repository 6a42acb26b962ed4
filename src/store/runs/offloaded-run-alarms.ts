/** The alarms of offloaded runs: when each returns from Postgres. */
import { inPipelines } from '../redis/connection/connection.ts';
import { fromFlat } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import type { ActiveRun } from './active-runs.ts';

/** An alarm that is due. */
export interface DueRun extends ActiveRun {
  /** Unix milliseconds. */
  at: number;
}

export interface ScannedAlarms {
  /** Cursor of the next scan; '0': all were read. */
  cursor: string;
  count: number;
  due: DueRun[];
}

/** Result of the last scan of all alarms. */
export interface SeenAlarms {
  count: number;
  /** Time of the first alarm whose run is due and did not return, Unix milliseconds; undefined: all returned. */
  overdueSince: number | undefined;
}

const SCANNED_AT_ONCE = 500;

export class OffloadedRunAlarms extends Repository {
  /** Reads some alarms of a partition. An alarm that is there during a whole scan is read at least once. */
  async scan(partition: number, env: string, cursor: string, nowMs: number): Promise<ScannedAlarms> {
    const { offloadedRuns } = this.keys.partition(partition);
    const [next, count, flat] = (await this.redis.scanOffloadedRuns(
      offloadedRuns(env),
      cursor,
      SCANNED_AT_ONCE,
      nowMs,
    )) as [string, number, string[]];
    const due = Object.entries(fromFlat(flat)).map(([runId, at]) => ({ env, runId, at: Number(at) }));
    return { cursor: next, count, due };
  }

  /** The environments that have offloaded runs in a partition. */
  async environmentsIn(partition: number, envs: readonly string[]): Promise<string[]> {
    const { offloadedRuns } = this.keys.partition(partition);
    const found = await inPipelines<number>(
      this.redis,
      envs.map((env) => ['exists', offloadedRuns(env)]),
    );
    return envs.filter((_, i) => found[i] === 1);
  }

  /** Records what a scan of a partition found. */
  async setSeen(partition: number, { count, overdueSince }: SeenAlarms): Promise<void> {
    const { offloadedRunsSeen } = this.keys.partition(partition);
    if (count === 0 && overdueSince === undefined) await this.redis.del(offloadedRunsSeen);
    else await this.redis.hset(offloadedRunsSeen, { count, overdue: overdueSince ?? '' });
  }

  /** Result of the last scans of all partitions. */
  async seen(): Promise<SeenAlarms> {
    const found = await inPipelines<[string | null, string | null]>(
      this.redis,
      this.keys.all().map(({ offloadedRunsSeen }) => ['hmget', offloadedRunsSeen, 'count', 'overdue']),
    );
    const times = found.flatMap(([, overdue]) => (overdue ? [Number(overdue)] : []));
    return {
      count: found.reduce((all, [count]) => all + Number(count ?? 0), 0),
      overdueSince: times.length === 0 ? undefined : Math.min(...times),
    };
  }
}
