/** Computes and names ticks for BullMQ's job schedulers. */
import type { Job, Queue } from 'bullmq';
import { nextTick } from '../../model/schedules/ticks.ts';
import { QUEUE_KEYS } from '../../store/keys/bullmq.ts';

/** For queues and workers. The pattern of a scheduler is the cron text as registered. */
export const SCHEDULER_SETTINGS = {
  repeatStrategy: (afterMs: number, { pattern }: { pattern?: string }): number | undefined =>
    pattern === undefined ? undefined : nextTick(pattern, afterMs),
};

export function schedulerKey(queue: Pick<Queue, 'toKey'>, id: string, tick: string): string {
  return queue.toKey(`${QUEUE_KEYS.schedulers}:${id}:${tick}`);
}

/** The time that a timer was set to: for a scheduler the tick, even if the job was retried with a delay. */
export function dueAtOf({ opts, timestamp, delay }: Pick<Job, 'opts' | 'timestamp' | 'delay'>): number {
  return opts.prevMillis ?? timestamp + delay;
}
