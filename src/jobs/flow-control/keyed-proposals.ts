/** Proposals with their key values, and decisions about them. */
import type { Decision, DecisionReason } from '../../model/flow-control/decision.ts';
import type { FlowKeys } from './flow-keys.ts';
import type { RunProposal } from './run-proposal.ts';

export interface Keyed {
  proposal: RunProposal;
  /** Digest of the value. */
  digest: string;
}

export interface KeyedProposals {
  keyed: Keyed[];
  /** Proposals that the limit does not apply to. */
  unlimited: RunProposal[];
}

/** @param keyOf expression of the key, if the option has a key */
export async function keyedBy(
  proposals: readonly RunProposal[],
  flowKeys: FlowKeys,
  keyOf: (proposal: RunProposal) => string | undefined,
): Promise<KeyedProposals> {
  const digests = await flowKeys.digestsOf(proposals, keyOf);
  const divided: KeyedProposals = { keyed: [], unlimited: [] };
  for (const [i, proposal] of proposals.entries()) {
    const digest = digests[i];
    if (digest) divided.keyed.push({ proposal, digest });
    else divided.unlimited.push(proposal);
  }
  return divided;
}

export function claimOf({ proposal, digest }: Keyed): { env: string; digest: string; runId: string } {
  return { env: proposal.event.env, digest, runId: proposal.id };
}

export function decisionOn(
  { event, fn }: RunProposal,
  reason: DecisionReason,
  more: Pick<Decision, 'runId' | 'until'>,
): Decision {
  return { env: event.env, eventId: event.internalId, functionId: fn.id, reason, ...more };
}
