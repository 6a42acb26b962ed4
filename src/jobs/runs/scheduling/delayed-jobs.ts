/** Due times of calls that are not due yet: retries, first calls of runs on future events, and calls deferred for lack of capacity. */
import { Composed } from '../../../model/values/composed.ts';
import { delayedUntil, JOB_FIELDS, QUEUE_KEYS } from '../../../store/keys/bullmq.ts';
import { inPipelines, type Redis } from '../../../store/redis/connection/connection.ts';
import { type CallRef, jobIdOf } from '../../queues/call-ref.ts';
import type { PartitionQueues } from '../../queues/partition-queues.ts';
import type { StoredCallJob } from '../../queues/queues.ts';

const FIELDS = [JOB_FIELDS.attempts, JOB_FIELDS.executions, JOB_FIELDS.options, JOB_FIELDS.data];

export interface DelayedJob {
  /** Unix milliseconds. */
  until: number;
  /** Number of attempts so far, and the maximum. */
  attemptsMade: number;
  attempts: number;
  /** Whether a worker has had the job before. */
  wasTried: boolean;
}

export class DelayedJobs extends Composed<{ redis: Redis; queues: PartitionQueues }> {
  /** The result is in the order of the calls, read in two pipelines; undefined if the job does not exist or is not delayed. */
  async of(calls: readonly CallRef[]): Promise<(DelayedJob | undefined)[]> {
    const jobs = calls.map((call) => ({ id: jobIdOf(call), queue: this.deps.queues.of(call.runId).runs }));
    const scores = await inPipelines<string | null>(
      this.deps.redis,
      jobs.map(({ id, queue }) => ['zscore', queue.toKey(QUEUE_KEYS.delayed), id]),
    );
    const delayed = jobs.filter((_, i) => scores[i] !== null);
    const fields = await inPipelines<(string | null)[]>(
      this.deps.redis,
      delayed.map(({ id, queue }) => ['hmget', queue.toKey(id), ...FIELDS]),
    );
    const fieldsOf = new Map(delayed.map((job, i) => [job, fields[i]]));
    return jobs.map((job, i) => {
      const [made, tried, opts, data] = fieldsOf.get(job) ?? [];
      // A job without data has ended in the meantime.
      if (!data || !opts) return undefined;
      const { attemptsBefore = 0 } = JSON.parse(data) as Pick<StoredCallJob, 'attemptsBefore'>;
      const { attempts = 1 } = JSON.parse(opts) as { attempts?: number };
      return {
        until: delayedUntil(scores[i] as string),
        attemptsMade: Number(made ?? 0) + attemptsBefore,
        attempts: attempts + attemptsBefore,
        wasTried: Number(tried ?? 0) > 0,
      };
    });
  }
}
