/** Ended runs whose jobs must still be removed, or for whose ends runs in another partition may wait: work of the process that ended the
 *  run, or of another process if it dies. */
import { inPipelines, type Redis, replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import { memberOf, readMember } from './active-runs.ts';
import type { StepsAtEnd } from './run-end.ts';
import { toPending } from './run-record.ts';

export class UnfinishedEnds extends Repository<Redis> {
  /** Unfinished ends of a partition from before a time, oldest first. */
  async before(partition: number, timeMs: number, limit: number): Promise<{ env: string; runId: string }[]> {
    const { unfinishedEnds } = this.keys.partition(partition);
    return (await this.redis.zrangebyscore(unfinishedEnds, '-inf', timeMs, 'LIMIT', 0, limit)).map(readMember);
  }

  /** The steps of the run when it ended. */
  async leftOver(env: string, runId: string): Promise<StepsAtEnd> {
    const keys = this.keys.of(runId);
    const commands = [
      ['llen', keys.stack(env, runId)],
      ['hgetall', keys.leftOver(env, runId)],
    ];
    const [done, pending] = await inPipelines<unknown>(this.redis, commands);
    return { done: done as number, pending: toPending(pending as Record<string, string>), isUnfinished: true };
  }

  /** Records that the end of the run is finished. */
  async finish(env: string, runId: string): Promise<void> {
    const keys = this.keys.of(runId);
    const finishing = this.redis.multi().del(keys.leftOver(env, runId));
    replies(await finishing.zrem(keys.unfinishedEnds, memberOf(env, runId)).exec());
  }

  /** The same for a run that had no pending steps. */
  async finishWithoutSteps(env: string, runId: string): Promise<void> {
    await this.redis.zrem(this.keys.of(runId).unfinishedEnds, memberOf(env, runId));
  }

  /** Schedules the next try. */
  async postpone(env: string, runId: string, untilMs: number): Promise<void> {
    await this.redis.zadd(this.keys.of(runId).unfinishedEnds, 'XX', untilMs, memberOf(env, runId));
  }
}
