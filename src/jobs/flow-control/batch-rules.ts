/** Rules of batches: an event of a function with `batchEvents` waits for others, and they share one run. */
import type { Decision } from '../../model/flow-control/decision.ts';
import { batchRunIdOf } from '../../model/runs/run.ts';
import type { GroupRules } from './event-group-stage.ts';
import { sourceOf } from './flow-keys.ts';
import type { RunProposal } from './run-proposal.ts';

export const BATCH_RULES: GroupRules<'batch', string> = {
  option: 'batch',
  waitMs: ({ timeoutMs }) => timeoutMs,
  timeOf: ({ dueAt }) => dueAt,
  /** Whether the event does not meet the condition, or is for a time beyond the batch. */
  runsAlone(proposal, { timeoutMs, if: condition }, nowMs, flowKeys) {
    if (proposal.dueAt > nowMs + timeoutMs) return true;
    return condition !== undefined && flowKeys.valueOf(condition, sourceOf(proposal)) !== true;
  },
  onFormerRun(proposal, runId) {
    // The event ran by itself before its function had batches: the rest of that run's creation is repeated.
    return runId === proposal.id ? { admitted: [proposal] } : { decisions: [decisionOf(proposal, runId)] };
  },
  decisionsOn: (proposal, batchId, ids) => [decisionOf(proposal, batchRunIdOf(ids, batchId, proposal.fn.id))],
};

function decisionOf({ event: { env, internalId }, fn }: RunProposal, runId: string): Decision {
  return { env, eventId: internalId, functionId: fn.id, reason: 'batched', runId };
}
