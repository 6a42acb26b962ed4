/** Counts the runs that this process has started and ended, in dev mode. A move of the clock returns the counts. */
import type { MetricsRecorder } from '../../metrics/recorder.ts';

export interface RunCounts {
  started: number;
  ended: number;
}

/** @returns the recorder, which also counts */
export function countingRuns(recorder: MetricsRecorder, counts: RunCounts): MetricsRecorder {
  const counting: Pick<MetricsRecorder, 'runStarted' | 'runEnded'> = {
    runStarted(delayMs) {
      counts.started++;
      recorder.runStarted(delayMs);
    },
    runEnded(status) {
      counts.ended++;
      recorder.runEnded(status);
    },
  };
  return Object.assign(Object.create(recorder), counting);
}
