/** Counts a queue's jobs while they are at work, and times them. */
import { type MetricsRecorder, NOOP_RECORDER } from '../metrics/recorder.ts';

type Handler<Work> = (job: Work) => Promise<void>;

/** @returns the handler itself where nobody measures */
export function measured<Work>(queue: string, handler: Handler<Work>, meter: MetricsRecorder): Handler<Work> {
  if (meter === NOOP_RECORDER) return handler;
  meter.queueOpened(queue);
  return async (job) => {
    const startedAt = performance.now();
    let outcome: 'done' | 'failed' = 'failed';
    meter.jobBegan(queue);
    try {
      await handler(job);
      outcome = 'done';
    } finally {
      meter.jobEnded(queue, outcome, performance.now() - startedAt);
    }
  };
}
