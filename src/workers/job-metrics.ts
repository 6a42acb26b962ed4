/** Counts a queue's jobs while they are at work, and times them. */
import { type MetricsRecorder, NOOP_RECORDER } from '../metrics/recorder.ts';

type Handler<Work> = (job: Work) => Promise<void>;

/** @returns the handler itself where nobody measures */
export function measured<Work>(queue: string, handler: Handler<Work>, meter: MetricsRecorder): Handler<Work> {
  if (meter === NOOP_RECORDER) return handler;
  meter.registerQueue(queue);
  return async (job) => {
    const startedAt = performance.now();
    let outcome: 'completed' | 'failed' = 'failed';
    meter.jobStarted(queue);
    try {
      await handler(job);
      outcome = 'completed';
    } finally {
      meter.jobFinished(queue, outcome, performance.now() - startedAt);
    }
  };
}
