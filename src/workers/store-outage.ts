/** What becomes of a run's job while Redis refuses writes, or cannot be reached: it waits and is done later, as often as it takes. That says
 *  nothing about the function, so none of its attempts is used up. */
import { DelayedError, type Job } from 'bullmq';
import { isOutcome } from '../jobs/runs/service-errors.ts';
import type { Logger } from '../log.ts';
import { isStoreFailure } from '../store/redis/connection.ts';

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;
/** Every job at work says the same. */
const LOG_EVERY_MS = 5_000;

type Handler<Data> = (job: Job<Data>) => Promise<void>;

/** @returns the handler, whose jobs outlast a Redis that refuses */
export function delayingDuringOutage<Data>(handler: Handler<Data>, log: Logger): Handler<Data> {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return async (job) => {
    try {
      await handler(job);
    } catch (error) {
      if (isOutcome(error) || !isStoreFailure(error)) throw error;
      const nowMs = performance.now();
      if (nowMs - loggedAt >= LOG_EVERY_MS) {
        loggedAt = nowMs;
        log.warn(
          { err: (error as Error).message, job: job.id },
          'Redis refuses; jobs of runs wait and are tried again',
        );
      }
      await putOff(job);
    }
  };
}

/** Where Redis takes not even this, the job keeps its place among those at work, its lock runs out, and a worker takes it up again.
 *  @throws DelayedError always: BullMQ counts no attempt then */
async function putOff<Data>(job: Job<Data>): Promise<never> {
  await job.moveToDelayed(Date.now() + delayMs(job), job.token).catch(() => undefined);
  throw new DelayedError();
}

function delayMs({ attemptsStarted, attemptsMade }: Job): number {
  const putOffBefore = Math.max(0, attemptsStarted - attemptsMade - 1);
  return Math.min(FIRST_DELAY_MS * 2 ** Math.min(putOffBefore, 10), MAX_DELAY_MS) * (0.75 + Math.random() / 2);
}
