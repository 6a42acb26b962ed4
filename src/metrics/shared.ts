/** Metrics of web and worker: both can accept events, ingest their own events and end runs. */
import { ENDINGS } from '../model/runs/run.ts';
import { ISSUE_KINDS } from '../model/webhooks/issue.ts';
import type { MetricsRecorder } from './recorder.ts';
import { COUNT_BUCKETS, LONG_BUCKETS, type MetricsRegistry, SHORT_BUCKETS } from './registry.ts';

const DUPLICATE = ['false', 'true'] as const;

export function sharedRecorder(registry: MetricsRegistry) {
  const accepted = registry.counters('events_accepted_total', 'Events stored in Redis.', 'duplicate', DUPLICATE);
  const [acceptedNew, acceptedDuplicates] = [accepted('false'), accepted('true')];
  const batchSizes = registry.histogram('commit_batch_events', 'Events per group commit.', COUNT_BUCKETS);
  const commitDurations = registry.histogram(
    'commit_duration_seconds',
    'Duration of successful group commits.',
    SHORT_BUCKETS,
  );
  const failures = registry.counter('commit_failures_total', 'Group commits that failed or timed out.');
  const ingested = registry.counters('events_ingested_total', 'Events completely ingested.', 'duplicate', DUPLICATE);
  const [ingestedNew, ingestedDuplicates] = [ingested('false'), ingested('true')];
  const ingestLatencies = registry.histogram(
    'event_ingest_latency_seconds',
    'Time from the receipt of an event until it is completely ingested.',
    LONG_BUCKETS,
  );
  const started = registry.counter('runs_started_total', 'Runs whose function was called for the first time.');
  const startDelays = registry.histogram(
    'run_start_delay_seconds',
    'Time from when a run could start to its first call.',
    LONG_BUCKETS,
  );
  const ended = registry.counters('runs_ended_total', 'Runs that have ended.', 'status', ENDINGS);
  const issues = registry.counters(
    'webhook_issues_opened_total',
    'Issues of webhooks that were opened, or reopened.',
    'kind',
    ISSUE_KINDS,
  );
  return {
    webhookIssueOpened: (kind) => issues(kind).inc(),
    eventsCommitted(events, ms) {
      let duplicates = 0;
      for (const { repeat } of events) if (repeat) duplicates++;
      acceptedNew.inc(events.length - duplicates);
      acceptedDuplicates.inc(duplicates);
      batchSizes.observe(events.length);
      commitDurations.observe(ms / 1_000);
    },
    commitFailed: () => failures.inc(),
    eventIngested(ageMs) {
      ingestedNew.inc();
      ingestLatencies.observe(ageMs / 1_000);
    },
    duplicateIngested: () => ingestedDuplicates.inc(),
    runStarted(delayMs) {
      started.inc();
      startDelays.observe(delayMs / 1_000);
    },
    runEnded: (status) => ended(status).inc(),
  } satisfies Partial<MetricsRecorder>;
}
