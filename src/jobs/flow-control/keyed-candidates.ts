/** Candidates with their key values, and decisions about them. */
import type { Decision, DecisionReason } from '../../model/flow-control/decision.ts';
import type { Candidate } from './candidate.ts';
import type { FlowKeys } from './flow-keys.ts';

export interface Keyed {
  candidate: Candidate;
  /** Digest of the value. */
  digest: string;
}

export interface KeyedCandidates {
  keyed: Keyed[];
  /** Candidates that the limit does not apply to. */
  unlimited: Candidate[];
}

/** @param keyOf expression of the key, if the option has a key */
export async function keyedBy(
  candidates: readonly Candidate[],
  flowKeys: FlowKeys,
  keyOf: (candidate: Candidate) => string | undefined,
): Promise<KeyedCandidates> {
  const digests = await flowKeys.digestsOf(candidates, keyOf);
  const divided: KeyedCandidates = { keyed: [], unlimited: [] };
  for (const [i, candidate] of candidates.entries()) {
    const digest = digests[i];
    if (digest) divided.keyed.push({ candidate, digest });
    else divided.unlimited.push(candidate);
  }
  return divided;
}

export function decisionOn(
  { event, fn }: Candidate,
  reason: DecisionReason,
  more: Pick<Decision, 'runId' | 'until'>,
): Decision {
  return { env: event.env, eventId: event.internalId, functionId: fn.id, reason, ...more };
}
