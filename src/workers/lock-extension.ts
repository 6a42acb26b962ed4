/** Keeps the lock of a job that was put back, and is at work again. BullMQ renews locks by the job's ID: where a worker takes a job up again before it is done
 *  with putting it back (Redis answers slowly, say), the end of the one ends the renewal for the other, and after a while a second worker would do the
 *  same work at the same time. */
import type { Job } from 'bullmq';

type Handler<Data> = (job: Job<Data>) => Promise<void>;

/** @returns the handler, whose jobs are locked as long as they are at work */
export function extendingLock<Data>(handler: Handler<Data>, lockMs: number): Handler<Data> {
  return async (job) => {
    // It comes for the first time, or after an attempt.
    if (job.attemptsStarted <= job.attemptsMade + 1) return handler(job);
    const renewal = setInterval(() => void job.extendLock(job.token as string, lockMs).catch(() => {}), lockMs / 3);
    try {
      await handler(job);
    } finally {
      clearInterval(renewal);
    }
  };
}
