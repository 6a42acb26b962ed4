/** A burst of wake-ups shares a worker with other runs: few are at work at a time, so an event, a call or a step beside them waits for few. */
import type { RunJob } from '../jobs/queues/queues.ts';
import type { Handler } from './job-middleware.ts';

/** Enough to keep a process and its Redis busy. */
export const WAKE_UPS_MAX = 8;

/** Limits the wake-ups at a time. A wake-up that waits for others keeps its job: wake-ups of runs that slept for long are taken only when no call waits. */
export function withFewWakeUps(handler: Handler<RunJob>): Handler<RunJob> {
  const waiting: (() => void)[] = [];
  let active = 0;
  return async (job) => {
    if (job.data.kind !== 'wake') return handler(job);
    if (active < WAKE_UPS_MAX) active += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      await handler(job);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else active -= 1;
    }
  };
}
