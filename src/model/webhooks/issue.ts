/** Issues of webhooks (docs/webhooks.md#issues): one for each webhook and kind of failure. */
import type { PartitionedIds } from '../partitions/partitioned-ids.ts';

/** `verification`: requests failed verification; `transform`: the transform or the filter failed; `quarantine`: requests arrived while the
 *  transform was in quarantine, or caused it; `silence`: a webhook with regular requests gets no more requests. */
export const ISSUE_KINDS = ['verification', 'transform', 'quarantine', 'silence'] as const;
export type IssueKind = (typeof ISSUE_KINDS)[number];

/** `acknowledged`: a user has seen the issue; `ignored`: users do not want to hear of it. Both keep counting failures;
 *  the next failure reopens a resolved issue. */
export const ISSUE_STATES = ['open', 'acknowledged', 'resolved', 'ignored'] as const;
export type IssueState = (typeof ISSUE_STATES)[number];

/** Error codes that count for each kind. Other errors of requests are not failures of the webhook. */
export const CODES_OF_KIND: Record<IssueKind, readonly string[]> = {
  verification: ['verification_failed'],
  transform: ['transform_failed', 'filter_failed'],
  quarantine: ['transform_quarantined'],
  silence: [],
};

const KIND_OF_CODE = new Map(ISSUE_KINDS.flatMap((kind) => CODES_OF_KIND[kind].map((code) => [code, kind] as const)));

export function kindOfCode(code: string): IssueKind | undefined {
  return KIND_OF_CODE.get(code);
}

/** Stable, and in the webhook's partition. */
export function issueIdOf(ids: PartitionedIds, webhookId: string, kind: IssueKind): string {
  return ids.derived(webhookId, 'webhook-issue', kind);
}
