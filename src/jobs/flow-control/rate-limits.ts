/** Stage of rate limits: a maximum number of runs in any window of the period; further runs are skipped. */
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions, RateLimit } from '../../model/flow-control/options.ts';
import type { RateLimitLogs } from '../../store/flow-control/rate-limit-logs.ts';
import type { Candidate, FlowStage, StageResult } from './candidate.ts';
import type { FlowKeys } from './flow-keys.ts';
import { decisionOn, type Keyed, keyedBy } from './keyed-candidates.ts';

export class RateLimits implements FlowStage {
  readonly #logs: RateLimitLogs;
  readonly #flowKeys: FlowKeys;

  constructor(logs: RateLimitLogs, flowKeys: FlowKeys) {
    this.#logs = logs;
    this.#flowKeys = flowKeys;
  }

  appliesTo({ rateLimit }: FlowOptions): boolean {
    return rateLimit !== undefined;
  }

  async apply(candidates: readonly Candidate[]): Promise<StageResult> {
    const { keyed, unlimited } = await this.#keyed(candidates);
    const untilById = await this.#logs.admit(requestsOf(keyed));
    const admitted = unlimited;
    const decisions: Decision[] = [];
    for (const { candidate } of keyed) {
      const until = untilById.get(candidate.id);
      if (until === undefined) admitted.push(candidate);
      else decisions.push(decisionOn(candidate, 'rate_limited', { until }));
    }
    return { admitted, decisions };
  }

  async takeBack(candidates: readonly Candidate[]): Promise<void> {
    const { keyed } = await this.#keyed(candidates);
    await this.#logs.release(
      keyed.map(({ candidate, digest }) => ({ env: candidate.event.env, digest, runId: candidate.id })),
    );
  }

  #keyed(candidates: readonly Candidate[]) {
    return keyedBy(candidates, this.#flowKeys, (candidate) => limitOf(candidate).key);
  }
}

/** One request to Redis per key value. */
function requestsOf(keyed: readonly Keyed[]) {
  return [...Map.groupBy(keyed, ({ digest }) => digest)].map(([digest, some]) => {
    const [{ candidate }] = some as [Keyed];
    const { limit, periodMs } = limitOf(candidate);
    return { env: candidate.event.env, digest, limit, periodMs, runIds: some.map(({ candidate }) => candidate.id) };
  });
}

function limitOf({ fn }: Candidate): RateLimit {
  return flowOptionsOf(fn)?.rateLimit as RateLimit;
}
