/** Replays of the logged requests of webhooks (docs/webhooks.md#many-requests). */
import type { Principal } from '../../model/auth/access.ts';
import type { BulkOperation } from '../../model/bulk/bulk-operation.ts';
import type { LogOutcome } from '../../model/webhooks/request-log.ts';

/** Result of replaying a request. */
export const WEBHOOK_REPLAY_OUTCOMES = ['done', 'failed', 'skipped'] as const;
export type WebhookReplayOutcome = (typeof WEBHOOK_REPLAY_OUTCOMES)[number];

/** Requests to replay, and the rate. */
export interface WebhookReplayDefinition {
  id: string;
  webhookId: string;
  /** Receipt, Unix milliseconds: from inclusive, to exclusive. */
  from: number | undefined;
  to: number;
  outcomes: LogOutcome[] | undefined;
  /** Error codes and other reasons; absent: all. */
  reasons?: string[] | undefined;
  /** IDs in the order to replay; undefined: all requests in the time range. */
  requestIds: string[] | undefined;
  hasDraft: boolean;
  /** Replaces the webhook's code; removed when the replay ends. */
  draft?: DraftCode | undefined;
  /** Requests per second. */
  rate: number;
  /** Number of requests at the start; if `isExact` is false, a lower bound. */
  total: { count: number; isExact: boolean };
  createdAt: number;
  /** Absent: an earlier version of the service started it. */
  startedBy?: Pick<Principal, 'kind' | 'id' | 'name'>;
}

export interface DraftCode {
  /** Absent: the webhook's transform. */
  transform?: string | undefined;
  /** null: no filter; absent: the webhook's filter. */
  filter?: string | null | undefined;
}

export interface WebhookReplayPosition {
  /** ID of the last request with a result; '' if none has. */
  last: string;
  /** Requests up to this ID have been examined. */
  after: string;
}

/** Plan of the next portion. */
export interface WebhookReplayPlan {
  /** ID from which the next request's event ID is derived. */
  parent: string;
}

/** A replay whose counts are the outcomes of requests. */
export type WebhookReplay = BulkOperation<WebhookReplayDefinition, WebhookReplayPosition>;

export interface WebhookReplayResult {
  requestId: string;
  /** Internal ID of the event; for a duplicate, of the earlier event. */
  eventId?: string | undefined;
  /** Error code, or why there is no event. */
  reason?: string | undefined;
  message?: string | undefined;
}
