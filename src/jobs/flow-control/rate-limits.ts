/** Stage of rate limits: a maximum number of runs in any window of the period; further runs are skipped. */
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions, RateLimit } from '../../model/flow-control/options.ts';
import { Composed } from '../../model/values/composed.ts';
import type { RateLimitLogs } from '../../store/flow-control/rate-limit-logs.ts';
import type { FlowKeys } from './flow-keys.ts';
import { claimOf, decisionOn, type Keyed, keyedBy } from './keyed-proposals.ts';
import type { FlowStage, RunProposal, StageResult } from './run-proposal.ts';

export class RateLimits extends Composed<{ rateLimitLogs: RateLimitLogs; flowKeys: FlowKeys }> implements FlowStage {
  appliesTo({ rateLimit }: FlowOptions): boolean {
    return rateLimit !== undefined;
  }

  async apply(proposals: readonly RunProposal[]): Promise<StageResult> {
    const { keyed, unlimited } = await this.#keyed(proposals);
    const untilById = await this.deps.rateLimitLogs.admit(requestsOf(keyed));
    const admitted = unlimited;
    const decisions: Decision[] = [];
    for (const { proposal } of keyed) {
      const until = untilById.get(proposal.id);
      if (until === undefined) admitted.push(proposal);
      else decisions.push(decisionOn(proposal, 'rate_limited', { until }));
    }
    return { admitted, decisions };
  }

  async takeBack(proposals: readonly RunProposal[]): Promise<void> {
    const { keyed } = await this.#keyed(proposals);
    await this.deps.rateLimitLogs.release(keyed.map(claimOf));
  }

  #keyed(proposals: readonly RunProposal[]) {
    return keyedBy(proposals, this.deps.flowKeys, (proposal) => limitOf(proposal).key);
  }
}

/** One request to Redis per key value. */
function requestsOf(keyed: readonly Keyed[]) {
  return [...Map.groupBy(keyed, ({ digest }) => digest)].map(([digest, some]) => {
    const [{ proposal }] = some as [Keyed];
    const { limit, periodMs } = limitOf(proposal);
    return { env: proposal.event.env, digest, limit, periodMs, runIds: some.map(({ proposal }) => proposal.id) };
  });
}

function limitOf({ fn }: RunProposal): RateLimit {
  return flowOptionsOf(fn)?.rateLimit as RateLimit;
}
