/** The jobs of runs that are in the queues: their states, their removal, and calls that become due earlier. */
import { ErrorCode } from 'bullmq';
import { Composed } from '../../../model/values/composed.ts';
import { delayedUntil, JOB_FIELDS, QUEUE_KEYS } from '../../../store/keys/bullmq.ts';
import { type CallRef, callJobId, jobIdOf } from '../../queues/call-ref.ts';
import type { PartitionQueues } from '../../queues/partition-queues.ts';
import type { RunQueue } from '../../queues/queues.ts';
import { wakeJobId } from './run-jobs.ts';

/** States of a job that will still run. A job in any other state has ended or is in no list, and only blocks a new one with its ID. */
export const LIVE_STATES: ReadonlySet<string> = new Set([
  'active',
  'delayed',
  'paused',
  'prioritized',
  'waiting',
  'waiting-children',
]);
export class QueuedRunJobs extends Composed<{ queues: PartitionQueues }> {
  /** Whether the job of a call will still run. */
  async isLive(call: CallRef): Promise<boolean> {
    const jobId = jobIdOf(call);
    return LIVE_STATES.has(await this.queueOf(jobId).getJobState(jobId));
  }

  /** Removes the job if it will not run: it would block a new one with its ID. */
  async removeDead(jobId: string): Promise<void> {
    const queue = this.queueOf(jobId);
    if (!LIVE_STATES.has(await queue.getJobState(jobId))) {
      await queue.remove(jobId, { removeChildren: false });
    }
  }

  /** Removes the wake jobs of ended steps. An active job stays and finds nothing to do. */
  async removeWakes(runId: string, stepIds: readonly string[]): Promise<void> {
    await this.#remove(stepIds.map((stepId) => wakeJobId(runId, stepId)));
  }

  /** Removes calls that are no longer needed. An active job stays and finds nothing to do. */
  async removeCalls(calls: readonly CallRef[]): Promise<void> {
    await this.#remove(calls.map(jobIdOf));
  }

  async #remove(jobIds: readonly string[]): Promise<void> {
    await Promise.all(jobIds.map((id) => this.queueOf(id).remove(id, { removeChildren: false })));
  }

  /** @returns due times of the delayed calls, Unix milliseconds, by job ID */
  async delayedCalls(calls: readonly CallRef[]): Promise<Map<string, number>> {
    const ids = calls.map(jobIdOf);
    const scores = await Promise.all(
      ids.map(async (id) => {
        const queue = this.queueOf(id);
        return (await queue.getBackend().client).zscore(queue.toKey(QUEUE_KEYS.delayed), id);
      }),
    );
    return new Map(
      ids.flatMap((id, i) => {
        const score = scores[i];
        return score ? [[id, delayedUntil(score)] as const] : [];
      }),
    );
  }

  /** Key of the call's job, in which BullMQ counts its executions (`ats`). */
  callJobKey({ runId, finishedSteps, stepId }: CallRef): string {
    return this.queueOf(runId).toKey(callJobId(runId, finishedSteps, stepId));
  }

  /** Whether this execution of the call's job is the latest: another worker takes over the job of a worker that seems dead. */
  async isLastExecution(call: CallRef, executions: number): Promise<boolean> {
    const redis = await this.queueOf(call.runId).getBackend().client;
    return (await redis.hget(this.callJobKey(call), JOB_FIELDS.executions)) === String(executions);
  }

  /** Makes a delayed call due now.
   *  @returns whether it was delayed; a call in any other state is unchanged */
  async promote(jobId: string): Promise<boolean> {
    const job = await this.queueOf(jobId).getJob(jobId);
    if (!job) return false;
    try {
      await job.promote();
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === ErrorCode.JobNotInState) return false;
      throw error;
    }
  }

  /** Makes a deferred call due now. If it is no longer delayed, it became due by itself. */
  async promoteDeferred(jobId: string): Promise<void> {
    try {
      await this.queueOf(jobId).getBackend().promote(jobId);
    } catch (error) {
      if ((error as { code?: unknown }).code !== ErrorCode.JobNotInState) throw error;
    }
  }

  /** The queue of the run's partition: job IDs begin with the run's ID. */
  queueOf(id: string): RunQueue {
    return this.deps.queues.of(id).runs;
  }
}
