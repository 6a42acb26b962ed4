/** Stage of idempotency: one run per key value in 24 hours. */
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import type { IdempotencyClaim, IdempotencyClaims } from '../../store/flow-control/idempotency-claims.ts';
import type { Candidate, FlowStage, StageResult } from './candidate.ts';
import type { FlowKeys } from './flow-keys.ts';
import { decisionOn, type Keyed, keyedBy } from './keyed-candidates.ts';

export class Idempotency implements FlowStage {
  readonly #claims: IdempotencyClaims;
  readonly #flowKeys: FlowKeys;

  constructor(claims: IdempotencyClaims, flowKeys: FlowKeys) {
    this.#claims = claims;
    this.#flowKeys = flowKeys;
  }

  appliesTo({ idempotency }: FlowOptions): boolean {
    return idempotency !== undefined;
  }

  async apply(candidates: readonly Candidate[]): Promise<StageResult> {
    const { keyed, unlimited } = await this.#keyed(candidates);
    const holders = await this.#claims.claim(keyed.map(claimOf));
    const admitted = unlimited;
    const decisions: Decision[] = [];
    for (const [i, { candidate }] of keyed.entries()) {
      const holder = holders[i] as string;
      if (holder === candidate.id) admitted.push(candidate);
      else decisions.push(decisionOn(candidate, 'idempotent', { runId: holder }));
    }
    return { admitted, decisions };
  }

  async takeBack(candidates: readonly Candidate[]): Promise<void> {
    const { keyed } = await this.#keyed(candidates);
    await this.#claims.release(keyed.map(claimOf));
  }

  #keyed(candidates: readonly Candidate[]) {
    return keyedBy(candidates, this.#flowKeys, ({ fn }) => flowOptionsOf(fn)?.idempotency);
  }
}

function claimOf({ candidate, digest }: Keyed): IdempotencyClaim {
  return { env: candidate.event.env, digest, runId: candidate.id };
}
