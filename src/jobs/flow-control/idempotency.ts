/** Stage of idempotency: one run per key value in 24 hours. */
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import { Composed } from '../../model/values/composed.ts';
import type { IdempotencyClaims } from '../../store/flow-control/idempotency-claims.ts';
import type { FlowKeys } from './flow-keys.ts';
import { claimOf, decisionOn, keyedBy } from './keyed-proposals.ts';
import type { FlowStage, RunProposal, StageResult } from './run-proposal.ts';

export class Idempotency
  extends Composed<{ idempotencyClaims: IdempotencyClaims; flowKeys: FlowKeys }>
  implements FlowStage
{
  appliesTo({ idempotency }: FlowOptions): boolean {
    return idempotency !== undefined;
  }

  async apply(proposals: readonly RunProposal[]): Promise<StageResult> {
    const { keyed, unlimited } = await this.#keyed(proposals);
    const holders = await this.deps.idempotencyClaims.claim(keyed.map(claimOf));
    const admitted = unlimited;
    const decisions: Decision[] = [];
    for (const [i, { proposal }] of keyed.entries()) {
      const holder = holders[i] as string;
      if (holder === proposal.id) admitted.push(proposal);
      else decisions.push(decisionOn(proposal, 'idempotent', { runId: holder }));
    }
    return { admitted, decisions };
  }

  async takeBack(proposals: readonly RunProposal[]): Promise<void> {
    const { keyed } = await this.#keyed(proposals);
    await this.deps.idempotencyClaims.release(keyed.map(claimOf));
  }

  #keyed(proposals: readonly RunProposal[]) {
    return keyedBy(proposals, this.deps.flowKeys, ({ fn }) => flowOptionsOf(fn)?.idempotency);
  }
}
