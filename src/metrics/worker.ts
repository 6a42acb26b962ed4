/** Metrics of workers: jobs and function calls. */
import { CALL_RESULTS, type JobRecorder, type MetricsRecorder, SKIP_REASONS } from './recorder.ts';
import { COUNT_BUCKETS, LONG_BUCKETS, type MetricsRegistry } from './registry.ts';

const ARCHIVED = ['events', 'runs'] as const;

export function workerRecorder(registry: MetricsRegistry) {
  const active = registry.gaugesBy('jobs_active', 'Jobs that this process is running.', ['queue']);
  const jobs = registry.countersBy('jobs_total', 'Attempts of jobs that this process finished.', ['queue', 'outcome']);
  const durations = registry.histogramsBy(
    'job_duration_seconds',
    'Duration of attempts of jobs.',
    ['queue'],
    LONG_BUCKETS,
  );
  const stalled = registry.countersBy('jobs_stalled_total', 'Jobs recovered from a worker that stopped responding.', [
    'queue',
  ]);
  const batchSizes = registry.histogram('ingest_batch_events', 'Events per ingest job.', COUNT_BUCKETS);
  const splits = registry.counter(
    'ingest_jobs_split_total',
    'Ingest jobs that stalled repeatedly and were split in two.',
  );
  const deadLettered = registry.counter(
    'events_dead_lettered_total',
    'Events whose ingest job stalls workers; each stays as a failed job.',
  );
  const skipped = registry.counters(
    'expressions_skipped_total',
    'Events that an expression of a function was not evaluated for.',
    'reason',
    SKIP_REASONS,
  );
  const calls = registry.counters('function_calls_total', 'Function calls.', 'result', CALL_RESULTS);
  const callDurations = registry.histogram(
    'function_call_duration_seconds',
    'Duration of function calls, until their response.',
    LONG_BUCKETS,
  );
  const shipped = registry.counters('archive_rows_shipped_total', 'Rows written to the archive.', 'kind', ARCHIVED);
  const shipments = registry.histogram(
    'archive_shipment_duration_seconds',
    'Duration of shipments to the archive, until their commit.',
    LONG_BUCKETS,
  );
  const failedShipments = registry.counter('archive_shipments_failed_total', 'Shipments to the archive that failed.');
  const counts = new Map<string, number>();
  const addActive = (queue: string, by: 1 | 0 | -1) => {
    const count = (counts.get(queue) ?? 0) + by;
    counts.set(queue, count);
    active(queue).set(count);
  };
  return {
    registerQueue(queue) {
      addActive(queue, 0);
      for (const outcome of ['completed', 'failed']) jobs(queue, outcome).inc(0);
      stalled(queue).inc(0);
    },
    jobStarted: (queue) => addActive(queue, 1),
    jobFinished(queue, outcome, ms) {
      addActive(queue, -1);
      jobs(queue, outcome).inc();
      durations(queue).observe(ms / 1_000);
    },
    jobStalled: (queue) => stalled(queue).inc(),
    ingestJobStarted: (events) => batchSizes.observe(events),
    ingestJobSplit: () => splits.inc(),
    eventDeadLettered: () => deadLettered.inc(),
    expressionSkipped: (reason) => skipped(reason).inc(),
    functionCalled(result, ms) {
      calls(result).inc();
      callDurations.observe(ms / 1_000);
    },
    archiveShipped(events, runs, ms) {
      shipped('events').inc(events);
      shipped('runs').inc(runs);
      shipments.observe(ms / 1_000);
    },
    archiveShipmentFailed: () => failedShipments.inc(),
  } satisfies JobRecorder & Partial<MetricsRecorder>;
}
