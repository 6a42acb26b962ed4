/** Starts a replay of logged requests, or shows what it would do. */

import { invalidField } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Principal } from '../../model/auth/access.ts';
import { INSTALLATION } from '../../model/bulk/bulk-operation.ts';
import { newId } from '../../model/ids.ts';
import type { LogOutcome } from '../../model/webhooks/request-log.ts';
import type { BulkStore } from '../../store/bulk/store.ts';
import type { Store } from '../../store/store.ts';
import type { DraftCode, WebhookReplay, WebhookReplayPlan } from '../../store/webhooks/webhook-replay.ts';
import { checkFilter } from '../receive/check-filter.ts';
import { draftOf } from '../receive/draft.ts';
import { existingWebhook } from '../receive/existing-webhook.ts';
import type { ProcessWebhookDeps } from '../receive/process-webhook.ts';
import { previewWebhookReplay, type WebhookReplayDryRun } from './dry-run.ts';
import { countRequests } from './logged-requests.ts';

export interface StartReplayDeps extends ProcessWebhookDeps, Pick<Store, 'webhooks'> {
  webhookLog: History['webhookLog'];
  webhookReplays: BulkStore['webhookReplays'];
  backpressure: Backpressure;
}

export interface ReplayInput {
  /** Receipt, Unix milliseconds. */
  from?: number | undefined;
  to?: number | undefined;
  outcomes?: LogOutcome[] | undefined;
  reasons?: string[] | undefined;
  request_ids?: string[] | undefined;
  draft?: string | undefined;
  /** null: no filter. */
  draft_filter?: string | null | undefined;
  dry_run: boolean;
  rate: number;
}

export type StartedReplay =
  | { replay: WebhookReplay }
  | { dryRun: WebhookReplayDryRun & { total: { count: number; isExact: boolean } } };

/** @throws ServiceError not_found, input_invalid, transform_invalid, quota_exceeded, archive_unavailable, of backpressure */
export async function startReplay(
  webhookId: string,
  input: ReplayInput,
  { kind, id: principalId, name }: Pick<Principal, 'kind' | 'id' | 'name'>,
  deps: StartReplayDeps,
): Promise<StartedReplay> {
  const { webhooks, webhookLog, webhookReplays, backpressure, transforms } = deps;
  const webhook = webhooks.inUse(await existingWebhook(webhooks, webhookId));
  const now = Date.now();
  const { from, draft, rate, outcomes, reasons } = input;
  const to = Math.min(input.to ?? now, now);
  if (from !== undefined && from >= to) throw invalidField('from', 'not before "to" and now');
  const requestIds = input.request_ids && [...new Set(input.request_ids)].sort();
  const selection = { webhookId, from, to, outcomes, reasons, requestIds };
  const code = draftCodeOf(input);
  if (draft !== undefined) await transforms.check(draft);
  if (input.draft_filter) checkFilter(input.draft_filter, 'draft_filter');
  if (!input.dry_run) backpressure.admit();
  const total = await countRequests(webhookLog, selection);
  if (input.dry_run) {
    const tried = { webhook, draft: code && draftOf(webhookId, code) };
    return { dryRun: { ...(await previewWebhookReplay(selection, tried, deps)), total } };
  }
  const asked = { ...selection, hasDraft: code !== undefined, draft: code, rate, total };
  const planned: WebhookReplayPlan = { parent: newId(now) };
  const startedBy = { kind, id: principalId, name };
  const definition = { id: newId(now), ...asked, createdAt: now, startedBy };
  const id = await webhookReplays.add(INSTALLATION, definition, { position: { last: '', after: '' }, planned });
  return { replay: (await webhookReplays.read(INSTALLATION, id)) as WebhookReplay };
}

function draftCodeOf({ draft, draft_filter }: ReplayInput): DraftCode | undefined {
  return draft === undefined && draft_filter === undefined ? undefined : { transform: draft, filter: draft_filter };
}
