/** What worker alone measures: its jobs, and its calls of functions. */
import { CALL_RESULTS, type JobRecorder, type MetricsRecorder, SKIP_REASONS } from './recorder.ts';
import { EVENTS, LONG, type MetricsRegistry } from './registry.ts';

export function workerRecorder(panel: MetricsRegistry): JobRecorder & Pick<MetricsRecorder, 'called'> {
  const atWork = panel.gaugesBy('jobs_at_work', 'Jobs that this process is at.', ['queue']);
  const jobs = panel.countersBy('jobs_total', 'Jobs that this process was at, each try for itself.', [
    'queue',
    'outcome',
  ]);
  const durations = panel.histogramsBy('job_duration_seconds', 'Jobs, each try for itself.', ['queue'], LONG);
  const stalled = panel.countersBy('jobs_stalled_total', 'Jobs taken up from a worker that fell silent.', ['queue']);
  const batches = panel.histogram('ingest_batch_events', 'Events of an ingest job.', EVENTS);
  const splits = panel.counter(
    'ingest_jobs_split_total',
    'Ingest jobs that stalled again and again, and were split in two.',
  );
  const apart = panel.counter(
    'events_set_apart_total',
    'Events whose ingestion stalls workers; each stays as a failed job.',
  );
  const skipped = panel.counters(
    'expressions_skipped_total',
    'Events that an expression of a function did not judge.',
    'reason',
    SKIP_REASONS,
  );
  const calls = panel.counters('calls_total', 'Calls of functions.', 'result', CALL_RESULTS);
  const callDurations = panel.histogram('call_duration_seconds', 'Calls of functions, until their answer.', LONG);
  const counts = new Map<string, number>();
  const count = (queue: string, by: 1 | 0 | -1) => {
    const now = (counts.get(queue) ?? 0) + by;
    counts.set(queue, now);
    atWork(queue).set(now);
  };
  return {
    queueOpened(queue) {
      count(queue, 0);
      for (const outcome of ['done', 'failed']) jobs(queue, outcome).inc(0);
      stalled(queue).inc(0);
    },
    jobBegan: (queue) => count(queue, 1),
    jobEnded(queue, outcome, ms) {
      count(queue, -1);
      jobs(queue, outcome).inc();
      durations(queue).observe(ms / 1_000);
    },
    jobStalled: (queue) => stalled(queue).inc(),
    ingestBatch: (events) => batches.observe(events),
    ingestSplit: () => splits.inc(),
    eventSetApart: () => apart.inc(),
    expressionSkipped: (reason) => skipped(reason).inc(),
    called(result, ms) {
      calls(result).inc();
      callDurations.observe(ms / 1_000);
    },
  };
}
