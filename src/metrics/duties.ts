/** Metrics of duties, the work that processes repeat (duties/duty.ts). */
import type { MetricsRecorder } from './recorder.ts';
import type { MetricsRegistry } from './registry.ts';

export function dutyRecorder(registry: MetricsRegistry): Pick<MetricsRecorder, 'dutyRound'> {
  const rounds = registry.countersBy('duty_rounds_total', 'Rounds of duties.', ['duty', 'outcome']);
  const seconds = registry.countersBy('duty_round_seconds_total', 'Time that rounds of duties took.', ['duty']);
  const lastSuccess = registry.gaugesBy(
    'duty_last_success_timestamp_seconds',
    'When a round of a duty last succeeded, Unix time.',
    ['duty'],
    'max',
  );
  return {
    dutyRound(duty, outcome, ms) {
      rounds(duty, outcome).inc();
      seconds(duty).inc(ms / 1_000);
      if (outcome === 'completed') lastSuccess(duty).set(Date.now() / 1_000);
    },
  };
}
