/** What both kinds of process measure: either may accept events, ingest an event of its own and end runs. */
import type { MetricsRecorder } from './recorder.ts';
import { EVENTS, LONG, type MetricsRegistry, SHORT } from './registry.ts';

type WorkMeter = Pick<
  MetricsRecorder,
  'committed' | 'commitFailed' | 'ingested' | 'ingestedRepeat' | 'runStarted' | 'runEnded'
>;

const REPEAT = ['false', 'true'] as const;
const ENDS = ['Completed', 'Failed', 'Cancelled'] as const;

export function sharedRecorder(panel: MetricsRegistry): WorkMeter {
  const accepted = panel.counters('events_accepted_total', 'Events that Redis has.', 'repeat', REPEAT);
  const [news, repeats] = [accepted('false'), accepted('true')];
  const sizes = panel.histogram('commit_events', 'Events of a group commit.', EVENTS);
  const durations = panel.histogram('commit_duration_seconds', 'Group commits that Redis took.', SHORT);
  const failures = panel.counter('commit_failures_total', 'Group commits that Redis did not take in time.');
  const ingested = panel.counters('events_ingested_total', 'Events wholly ingested.', 'repeat', REPEAT);
  const [fresh, again] = [ingested('false'), ingested('true')];
  const ages = panel.histogram(
    'event_ingested_age_seconds',
    'From the receipt of an event to its being wholly ingested.',
    LONG,
  );
  const started = panel.counter('runs_started_total', 'Runs whose function was called for the first time.');
  const delays = panel.histogram('run_start_delay_seconds', 'From when a run could begin to its first call.', LONG);
  const ended = panel.counters('runs_ended_total', 'Runs that have ended.', 'status', ENDS);
  return {
    committed(events, ms) {
      let repeated = 0;
      for (const { repeat } of events) if (repeat) repeated++;
      news.inc(events.length - repeated);
      repeats.inc(repeated);
      sizes.observe(events.length);
      durations.observe(ms / 1_000);
    },
    commitFailed: () => failures.inc(),
    ingested(ageMs) {
      fresh.inc();
      ages.observe(ageMs / 1_000);
    },
    ingestedRepeat: () => again.inc(),
    runStarted(delayMs) {
      started.inc();
      delays.observe(delayMs / 1_000);
    },
    runEnded: (status) => ended(status).inc(),
  };
}
