/** Makes calls only while they hold permits of their function's limits. A job that must wait is delayed, and becomes due when its call is
 *  admitted. */
import { DelayedError, type Job } from 'bullmq';
import { type RunJob, readCallJob, type StoredCallJob } from '../jobs/queues/queues.ts';
import type { AdmittedCalls } from '../jobs/runs/admission/admitted-calls.ts';
import { FunctionPaused } from '../jobs/runs/calls/service-errors.ts';
import type { Logger } from '../log.ts';
import type { Run } from '../model/runs/run.ts';
import { HOUR_MS } from '../model/values/time.ts';
import type { Handler } from './job-middleware.ts';

/** A delayed job that does not become due asks again after this time. */
const ASIDE_MS = HOUR_MS;

export function withPermits(admittedCalls: AdmittedCalls, handler: Handler<RunJob>, log: Logger): Handler<RunJob> {
  return async (job) => {
    if (job.data.kind !== 'call') return handler(job);
    const held = await admittedCalls.admit(readCallJob(job.data), job.attemptsStarted);
    if (held === 'waits') return putAside(job as Job<StoredCallJob>, admittedCalls);
    let pausedRun: Run | undefined;
    try {
      await handler(job);
    } catch (error) {
      if (!(error instanceof FunctionPaused)) throw error;
      pausedRun = error.run;
    } finally {
      if (held)
        await admittedCalls.release(held).catch((error: Error) => {
          log.debug({ err: error.message, job: job.id }, 'the limits of a call are given back by their check');
        });
    }
    if (!pausedRun) return;
    await admittedCalls.refreshPauseMark(pausedRun);
    await putAside(job as Job<StoredCallJob>, admittedCalls);
  };
}

/** @throws DelayedError always: BullMQ then counts no attempt */
async function putAside(job: Job<StoredCallJob>, admittedCalls: AdmittedCalls): Promise<never> {
  await job.moveToDelayed(Date.now() + ASIDE_MS, job.token).catch(() => undefined);
  await admittedCalls.recheck(readCallJob(job.data), job.attemptsStarted).catch(() => undefined);
  throw new DelayedError();
}
