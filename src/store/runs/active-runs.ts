/** Active runs, sorted by the time of their next reconciliation. */
import { inPipelines, type Redis, replies } from '../redis/connection.ts';
import { newest, type Position, type TimeRange } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';

export class ActiveRuns extends Repository<Redis> {
  /** Runs of a partition whose reconciliation is due, longest overdue first. */
  async dueForReconciliation(
    partition: number,
    nowMs: number,
    limit: number,
  ): Promise<{ env: string; runId: string }[]> {
    const { activeRuns } = this.keys.partition(partition);
    const members = await this.redis.zrangebyscore(activeRuns, '-inf', nowMs, 'LIMIT', 0, limit);
    return members.map(readMember);
  }

  /** @param dueBeforeMs count only runs whose reconciliation was due before this time */
  async count(dueBeforeMs?: number): Promise<number> {
    const commands = this.keys.all().map(({ activeRuns }) => {
      return dueBeforeMs === undefined ? ['zcard', activeRuns] : ['zcount', activeRuns, '-inf', `(${dueBeforeMs}`];
    });
    const counts = await inPipelines<number>(this.redis, commands);
    return counts.reduce((all, one) => all + one, 0);
  }

  /** Sets the next reconciliation, if the run is still active. */
  async postpone(env: string, runId: string, untilMs: number): Promise<void> {
    await this.redis.zadd(this.keys.of(runId).activeRuns, 'XX', untilMs, memberOf(env, runId));
  }

  /** The function's active runs, newest first. */
  ofFunction(env: string, functionId: string, timeRange: TimeRange, limit: number): Promise<Position[]> {
    const indexes = this.keys.all().map((keys) => keys.runIndex(env, 'active', functionId));
    return newest(this.redis, indexes, timeRange, limit);
  }

  async remove(env: string, runId: string): Promise<void> {
    const { activeRuns, activeRunsIn } = this.keys.of(runId);
    const removal = this.redis.multi().zrem(activeRuns, memberOf(env, runId));
    replies(await removal.zrem(activeRunsIn(env), runId).exec());
  }
}

/** Member of `active-runs`, which covers all environments. */
export function memberOf(env: string, id: string): string {
  return `${env}/${id}`;
}

export function readMember(member: string): { env: string; runId: string } {
  const slash = member.lastIndexOf('/');
  return { env: member.slice(0, slash), runId: member.slice(slash + 1) };
}
