/** Replays of the logged requests of webhooks (docs/webhooks.md#many-requests). */
import type { BulkOperation } from '../../model/bulk/bulk-operation.ts';
import type { LogOutcome } from './webhook-log.ts';

/** How the replay of a request ended. */
export const REPLAY_OUTCOMES = ['done', 'failed', 'skipped'] as const;
export type ReplayOutcome = (typeof REPLAY_OUTCOMES)[number];

/** What to replay, and how fast. */
export interface WebhookReplayDefinition {
  id: string;
  webhookId: string;
  /** Receipt, Unix milliseconds: from inclusive, to exclusive. */
  from: number | undefined;
  to: number;
  outcomes: LogOutcome[] | undefined;
  /** Error codes and other reasons; absent: all. */
  reasons?: string[] | undefined;
  /** In their order; undefined: all of the time range. */
  requestIds: string[] | undefined;
  hasDraft: boolean;
  /** What replaces the webhook's; gone when the replay is over. */
  draft?: DraftCode | undefined;
  /** Requests per second. */
  rate: number;
  /** Number of requests when it began; `isExact` is false: there are more. */
  total: { count: number; isExact: boolean };
  createdAt: number;
}

/** Code that replaces a webhook's. */
export interface DraftCode {
  /** Absent: the webhook's. */
  transform?: string | undefined;
  /** null: none; absent: the webhook's. */
  filter?: string | null | undefined;
}

export interface WebhookReplayPosition {
  /** ID of the last request that has a result; '': none has. */
  last: string;
  /** Requests up to this ID were looked at. */
  after: string;
}

/** What the next portion does. */
export interface WebhookReplayPlan {
  /** ID from which the ID of the next request's event derives. */
  parent: string;
}

/** It counts the outcomes of requests. */
export type WebhookReplay = BulkOperation<WebhookReplayDefinition, WebhookReplayPosition>;

export interface ReplayResult {
  requestId: string;
  /** Internal ID of the event: of an earlier one for a duplicate. */
  eventId?: string | undefined;
  /** Error code, or why it made no event. */
  reason?: string | undefined;
  message?: string | undefined;
}
