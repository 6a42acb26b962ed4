/** Stores and counts decisions. */
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import type { Decisions } from '../../store/flow-control/decisions.ts';
import type { DecisionLog } from './flow-control.ts';

export class CountedDecisions implements DecisionLog {
  readonly #decisions: Decisions;
  readonly #recorder: Pick<MetricsRecorder, 'runSkipped'>;

  constructor(decisions: Decisions, recorder: Pick<MetricsRecorder, 'runSkipped'>) {
    this.#decisions = decisions;
    this.#recorder = recorder;
  }

  async add(decisions: readonly Decision[]): Promise<void> {
    await this.#decisions.add(decisions, Date.now());
    for (const { env, functionId, reason } of decisions) this.#recorder.runSkipped(env, functionId, reason);
  }
}
