/** Dry run of a replay: runs the newest requests through the webhook's filter and transform and through a draft, and compares the
 *  results. */
import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import type { Event } from '../../model/events/event.ts';
import type { LoggedRequest, LogOutcome, LogPage, LogSummary } from '../../model/webhooks/request-log.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type { Draft } from '../receive/draft.ts';
import { type ProcessWebhookDeps, processWebhook } from '../receive/process-webhook.ts';
import type { CustomResponse } from '../receive/resolve-environment.ts';
import { logFieldsOf } from '../receive/webhook-outcome.ts';
import { largeOf } from '../receive/webhook-request.ts';
import { type Selection, withReasons } from './logged-requests.ts';

const SAMPLE_MAX = 50;
const SAMPLE_MS = 10_000;
/** Number of requests read at once when the replay selects requests by reason. */
const FILTERED_PAGE = 500;
/** The default number of transform threads. */
const AT_ONCE = 2;

export const CHANGES = ['same', 'changed', 'new_event', 'no_event', 'error'] as const;
export type Change = (typeof CHANGES)[number];

/** Result of filter and transform for a request. */
export interface Made {
  outcome: LogOutcome;
  events: readonly Event[];
  /** Replaces the usual response. */
  response: CustomResponse | undefined;
  eventName: string | undefined;
  reason: string | undefined;
  message: string | undefined;
}

export interface Comparison {
  summary: LogSummary;
  /** undefined without a draft: the log has the earlier result. */
  before: Made | undefined;
  after: Made;
  change: Change;
}

export interface DryRunDeps extends ProcessWebhookDeps {
  webhookLog: Pick<History['webhookLog'], 'list' | 'read'>;
}

export interface WebhookReplayDryRun {
  sample: Comparison[];
  stoppedEarly: LogPage['stoppedEarly'];
}

/** Newest first. @throws ServiceError archive_unavailable if only the archive has a request of the sample */
export async function previewWebhookReplay(
  selection: Selection,
  { webhook, draft }: { webhook: WebhookInUse; draft: Draft | undefined },
  deps: DryRunDeps,
): Promise<WebhookReplayDryRun> {
  const endsAt = performance.now() + SAMPLE_MS;
  const { ids, stoppedEarly } = await newestIds(selection, endsAt, deps);
  const found: (Comparison | undefined)[] = [];
  let next = 0;
  const worker = async () => {
    while (next < ids.length && performance.now() < endsAt) {
      const at = next++;
      found[at] = await compare(await deps.webhookLog.read(webhook.id, ids[at] as string), { webhook, draft }, deps);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const sample = found.filter((comparison) => comparison !== undefined);
  return { sample, stoppedEarly: next < ids.length ? 'time' : stoppedEarly };
}

async function newestIds(
  selection: Selection,
  endsAt: number,
  { webhookLog }: DryRunDeps,
): Promise<{ ids: string[]; stoppedEarly: LogPage['stoppedEarly'] }> {
  const { webhookId, from, to, outcomes, reasons, requestIds } = selection;
  if (requestIds) return { ids: requestIds.toReversed().slice(0, SAMPLE_MAX), stoppedEarly: undefined };
  const ids: string[] = [];
  const limit = reasons ? FILTERED_PAGE : SAMPLE_MAX;
  for (let cursor: string | undefined; ; ) {
    const query = { limit, cursor, after: from, before: to, outcomes };
    const { requests, next, stoppedEarly } = await webhookLog.list(webhookId, query, Date.now());
    ids.push(...withReasons(requests.filter(isReplayable), selection).map(({ id }) => id));
    if (ids.length >= SAMPLE_MAX) return { ids: ids.slice(0, SAMPLE_MAX), stoppedEarly: undefined };
    if (next === undefined || stoppedEarly === 'archive_unavailable') return { ids, stoppedEarly };
    if (performance.now() >= endsAt) return { ids, stoppedEarly: 'time' };
    if (!reasons && stoppedEarly) return { ids, stoppedEarly };
    cursor = next;
  }
}

function isReplayable({ rerunOf, bodyBytes }: LogSummary): boolean {
  return rerunOf === undefined && bodyBytes !== undefined;
}

async function compare(
  logged: LoggedRequest | undefined,
  { webhook, draft }: { webhook: WebhookInUse; draft: Draft | undefined },
  deps: DryRunDeps,
): Promise<Comparison | undefined> {
  if (!logged || !isReplayable(logged.summary)) return undefined;
  const { summary } = logged;
  return deps.largeBodies.withBodyOf(webhook.id, logged, async (body) => {
    if (!body) return undefined;
    const whole = { ...logged, body };
    const live = await make(whole, webhook, undefined, deps);
    if (!draft) return { summary, before: undefined, after: live, change: changeSince(summary, live) };
    const after = await make(whole, webhook, draft, deps);
    return { summary, before: live, after, change: changeBetween(live, after) };
  });
}

async function make(
  { summary, headers, search, body }: LoggedRequest & { body: Buffer },
  webhook: WebhookInUse,
  draft: Draft | undefined,
  deps: DryRunDeps,
): Promise<Made> {
  const { id: requestId, method } = summary;
  const request = { requestId, receivedAt: Date.now(), method, headers, search, body, large: largeOf(summary) };
  const result = await processWebhook(webhook, request, deps, {
    dryRun: true,
    draft,
    logged: summary,
  });
  const { decided } = result;
  if (decided.outcome === 'rejected' && isStoreUnavailable(decided.error)) throw decided.error;
  const { outcome, reason, message, eventName } = logFieldsOf(result);
  return {
    outcome,
    events: 'events' in decided ? decided.events : [],
    response: 'response' in decided ? decided.response : undefined,
    eventName,
    reason,
    message,
  };
}

function isStoreUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'unavailable';
}

/** Difference between the results of the webhook and its draft. */
function changeBetween(before: Made, after: Made): Change {
  if (after.outcome === 'rejected') return before.outcome === 'rejected' ? 'same' : 'error';
  if (after.events.length === 0 && before.events.length > 0) return 'no_event';
  if (after.events.length > 0 && before.events.length === 0) return 'new_event';
  return isDeepStrictEqual(comparable(before), comparable(after)) ? 'same' : 'changed';
}

function comparable({ outcome, events, response }: Made): unknown {
  return events.length === 0 ? { events, response } : { outcome, events, response };
}

/** Difference since the request was logged: the log has only the name of an event. */
function changeSince(before: LogSummary, after: Made): Change {
  if (after.outcome === 'rejected') return before.outcome === 'rejected' ? 'same' : 'error';
  if (after.eventName === undefined) return before.eventName === undefined ? 'same' : 'no_event';
  if (before.eventName === undefined) return 'new_event';
  return before.eventName === after.eventName && before.outcome === after.outcome ? 'same' : 'changed';
}
