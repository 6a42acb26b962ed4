/** Stores and counts decisions. */
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import type { Decision, DecisionReason } from '../../model/flow-control/decision.ts';
import { functionDigest } from '../../model/flow-control/decision-encoding.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Decisions } from '../../store/flow-control/decisions.ts';
import type { DecisionLog } from './flow-control.ts';
import type { RunProposal } from './run-proposal.ts';

/** Reasons of decisions about events that will still run. */
const WAITING: ReadonlySet<DecisionReason> = new Set(['in_lane', 'parked']);

export class CountedDecisions
  extends Composed<{
    decisions: Decisions;
    recorder: Pick<MetricsRecorder, 'runSkipped'>;
  }>
  implements DecisionLog
{
  async add(decisions: readonly Decision[]): Promise<void> {
    await this.deps.decisions.add(decisions, Date.now());
    for (const { env, functionId, reason } of decisions) {
      if (!WAITING.has(reason)) this.deps.recorder.runSkipped(env, functionId, reason);
    }
  }

  async find({ event: { env, internalId: eventId }, fn }: RunProposal): Promise<Decision | undefined> {
    const stored = await this.deps.decisions.of(env, eventId);
    const digest = functionDigest(fn.id);
    const found = stored.find((decision) => decision.digest === digest);
    return found && { ...found, env, eventId, functionId: fn.id };
  }
}
