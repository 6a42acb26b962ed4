/** A dry run of a replay: the newest requests through the webhook's transform and through a draft, and the difference in what they make. */
import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import type { Event } from '../../model/events/event.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-directory.ts';
import type { LoggedRequest, LogOutcome, LogPage, LogSummary } from '../../store/webhooks/webhook-log.ts';
import type { Transform } from '../../transforms/transforms.ts';
import { type ProcessWebhookDeps, processWebhook } from '../receive/process-webhook.ts';
import { logFieldsOf, rejected } from '../receive/webhook-outcome.ts';
import type { Selection } from './logged-requests.ts';

const SAMPLE_MAX = 50;
const SAMPLE_MS = 10_000;
/** As many transforms as have threads by default. */
const AT_ONCE = 2;
/** Of an event's JSON; a larger one is not shown. */
const SHOWN_MAX_LENGTH = 16_384;

export const CHANGES = ['same', 'changed', 'new_event', 'no_event', 'error'] as const;
export type Change = (typeof CHANGES)[number];

/** What a transform makes of a request. */
export interface Made {
  outcome: LogOutcome;
  event: Event | undefined;
  eventName: string | undefined;
  reason: string | undefined;
  message: string | undefined;
}

export interface Comparison {
  summary: LogSummary;
  /** undefined: there is no draft, so the log tells what it was. */
  before: Made | undefined;
  after: Made;
  change: Change;
}

export interface DryRunDeps extends ProcessWebhookDeps {
  webhookLog: Pick<History['webhookLog'], 'list' | 'read'>;
}

export interface DryRun {
  sample: Comparison[];
  stoppedEarly: LogPage['stoppedEarly'];
}

/** Newest first. @throws ServiceError archive_unavailable when a request of the sample is there alone */
export async function dryRun(
  selection: Selection,
  { webhook, draft }: { webhook: WebhookInUse; draft: Transform | undefined },
  deps: DryRunDeps,
): Promise<DryRun> {
  const endsAt = performance.now() + SAMPLE_MS;
  const { ids, stoppedEarly } = await newestIds(selection, deps);
  const found: (Comparison | undefined)[] = [];
  let next = 0;
  const worker = async () => {
    while (next < ids.length && performance.now() < endsAt) {
      const at = next++;
      found[at] = await compare(await deps.webhookLog.read(webhook.id, ids[at] as string), { webhook, draft }, deps);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const sample = found.filter((one) => one !== undefined);
  return { sample, stoppedEarly: next < ids.length ? 'time' : stoppedEarly };
}

async function newestIds(
  { webhookId, from, to, outcomes, requestIds }: Selection,
  { webhookLog }: DryRunDeps,
): Promise<{ ids: string[]; stoppedEarly: LogPage['stoppedEarly'] }> {
  if (requestIds) return { ids: requestIds.toReversed().slice(0, SAMPLE_MAX), stoppedEarly: undefined };
  const query = { limit: SAMPLE_MAX, after: from, before: to, outcomes };
  const { requests, stoppedEarly } = await webhookLog.list(webhookId, query, Date.now());
  return { ids: requests.map(({ id }) => id), stoppedEarly };
}

async function compare(
  logged: LoggedRequest | undefined,
  { webhook, draft }: { webhook: WebhookInUse; draft: Transform | undefined },
  deps: DryRunDeps,
): Promise<Comparison | undefined> {
  if (!logged?.body || logged.summary.rerunOf !== undefined) return undefined;
  const { summary } = logged;
  const live = await make(logged, webhook, undefined, deps);
  if (!draft) return { summary, before: undefined, after: live, change: changeSince(summary, live) };
  const after = await make(logged, webhook, draft, deps);
  return { summary, before: live, after, change: changeBetween(live, after) };
}

async function make(
  { summary, headers, search, body }: LoggedRequest,
  webhook: WebhookInUse,
  draft: Transform | undefined,
  deps: DryRunDeps,
): Promise<Made> {
  const request = { requestId: summary.id, receivedAt: Date.now(), headers, search, body: body as Buffer };
  const result = await processWebhook(webhook, request, deps, { dryRun: true, draft }).catch((error) => {
    if (error instanceof ServiceError && error.code === 'unavailable') throw error;
    return rejected(error);
  });
  const { outcome, reason, message, eventName } = logFieldsOf(result);
  return { outcome, event: 'event' in result.decided ? result.decided.event : undefined, eventName, reason, message };
}

/** Of two transforms. */
function changeBetween(before: Made, after: Made): Change {
  if (after.outcome === 'rejected') return before.outcome === 'rejected' ? 'same' : 'error';
  if (!after.event) return before.event ? 'no_event' : 'same';
  if (!before.event) return 'new_event';
  return isDeepStrictEqual(before.event, after.event) && before.outcome === after.outcome ? 'same' : 'changed';
}

/** Since the request was logged: the log has no more of an event than its name. */
function changeSince(before: LogSummary, after: Made): Change {
  if (after.outcome === 'rejected') return before.outcome === 'rejected' ? 'same' : 'error';
  if (after.eventName === undefined) return before.eventName === undefined ? 'same' : 'no_event';
  if (before.eventName === undefined) return 'new_event';
  return before.eventName === after.eventName && before.outcome === after.outcome ? 'same' : 'changed';
}

/** The event as a dry run shows it; undefined: it is too large. */
export function shown(event: Event): Event | undefined {
  return JSON.stringify(event).length <= SHOWN_MAX_LENGTH ? event : undefined;
}
