/** Issues of webhooks (docs/webhooks.md#issues): one for each webhook and kind of failure. */
import { derivedId } from '../ids.ts';

/** verification: requests that could not be verified; transform: that the transform or the filter failed on; quarantine: that came while the transform
 *  was in quarantine, or led to it; silence: none came where there had been some. */
export const ISSUE_KINDS = ['verification', 'transform', 'quarantine', 'silence'] as const;
export type IssueKind = (typeof ISSUE_KINDS)[number];

/** acknowledged: somebody knows; ignored: nobody wants to. Failures count on in both; a resolved issue is reopened by the next one. */
export const ISSUE_STATES = ['open', 'acknowledged', 'resolved', 'ignored'] as const;
export type IssueState = (typeof ISSUE_STATES)[number];

/** Error codes of the requests of an issue. A request that fails for another reason is no failure of the webhook. */
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

/** The same for all time, and in the webhook's partition. */
export function issueIdOf(webhookId: string, kind: IssueKind): string {
  return derivedId(webhookId, 'webhook-issue', kind);
}
