/** Replays of webhook requests as bulk operations of web processes, where transforms run. Oldest request first, one after the other, at
 *  the rate of the replay. */
import { setTimeout } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import type { BulkWork } from '../../jobs/bulk/bulk-work.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Logger } from '../../log.ts';
import { newId } from '../../model/ids.ts';
import type { LoggedRequest } from '../../model/webhooks/request-log.ts';
import type { BulkStore } from '../../store/bulk/store.ts';
import { toServiceError } from '../../store/redis/connection/connection.ts';
import type { Store } from '../../store/store.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type {
  WebhookReplay,
  WebhookReplayDefinition,
  WebhookReplayOutcome,
  WebhookReplayPlan,
  WebhookReplayPosition,
  WebhookReplayResult,
} from '../../store/webhooks/webhook-replay.ts';
import { type Draft, draftOf } from '../receive/draft.ts';
import { PASSING_ERRORS, type ProcessWebhookDeps, processWebhook } from '../receive/process-webhook.ts';
import { largeOf, type WebhookRequest } from '../receive/webhook-request.ts';
import { nextRequests } from './logged-requests.ts';

const PAGE = 100;
/** After this time, another process may continue. */
const TURN_MS = 1_000;
const AT_ONCE = 20;

export interface WebhookReplayWorkDeps extends ReplayRequestDeps, Pick<Store, 'webhooks'> {
  webhookLog: History['webhookLog'];
  webhookReplays: BulkStore['webhookReplays'];
  backpressure: Pick<Backpressure, 'full' | 'admit'>;
}

export function webhookReplayWork(
  deps: WebhookReplayWorkDeps,
): BulkWork<WebhookReplayDefinition, WebhookReplayPosition> {
  return {
    operations: deps.webhookReplays,
    concurrency: { total: AT_ONCE, perEnvironment: AT_ONCE },
    inArchivedEnvironments: 'continues',
    waitsFor: () => true,
    doPortion: (replay, signal) => replaySome(replay, deps, signal),
  };
}

/** Replays requests for a while. */
async function replaySome(given: WebhookReplay, deps: WebhookReplayWorkDeps, signal: AbortSignal): Promise<number> {
  const { webhookId, draft: code } = given.definition;
  const draft = code && draftOf(webhookId, code);
  const endsAt = performance.now() + TURN_MS;
  let replay: WebhookReplay | undefined = given;
  while (replay && !signal.aborted && performance.now() < endsAt) {
    const { after } = replay.position;
    const page = await nextRequests(deps.webhookLog, replay.definition, after, PAGE);
    for (const { id: requestId } of page.requests) {
      const startedAt = performance.now();
      if (!replay || signal.aborted || startedAt >= endsAt) return 0;
      replay = await replayOne(requestId, replay, draft, deps);
      if (replay) await sleep(startedAt + 1_000 / replay.definition.rate - performance.now(), signal);
    }
    if (!replay) return 0;
    replay = await passPage(replay, page.next, deps);
  }
  return 0;
}

/** @returns the replay afterwards; undefined: stop
 *  @throws ServiceError a temporary error */
async function replayOne(
  requestId: string,
  replay: WebhookReplay,
  draft: Draft | undefined,
  deps: WebhookReplayWorkDeps,
): Promise<WebhookReplay | undefined> {
  const { webhooks, webhookReplays, backpressure } = deps;
  const webhook = await webhooks.read(replay.definition.webhookId);
  if (!webhook) {
    await webhookReplays.change(replay, 'cancelled', ['running'], Date.now());
    return undefined;
  }
  backpressure.admit();
  const { parent } = replay.planned as WebhookReplayPlan;
  const { status: outcome, ...result } = await replayRequest(
    requestId,
    { id: replay.id, parent },
    { webhook: webhooks.inUse(webhook), draft },
    deps,
  );
  return moveOn(replay, { last: requestId, after: requestId }, { outcome, result }, deps);
}

/** A page may be empty: only some of the examined requests may be selected.
 *  @param next undefined: it was the last page */
async function passPage(
  replay: WebhookReplay,
  next: string | undefined,
  deps: WebhookReplayWorkDeps,
): Promise<WebhookReplay | undefined> {
  const { webhooks, webhookReplays } = deps;
  if (next === replay.position.after) return replay;
  if (next !== undefined) return moveOn(replay, { ...replay.position, after: next }, undefined, deps);
  // The log of a deleted webhook ends early.
  if (await webhooks.read(replay.definition.webhookId)) {
    await webhookReplays.save(replay, { counts: {}, results: [], doneAt: Date.now() });
  } else await webhookReplays.change(replay, 'cancelled', ['running'], Date.now());
  return undefined;
}

async function moveOn(
  replay: WebhookReplay,
  position: WebhookReplayPosition,
  done: { outcome: string; result: object } | undefined,
  { webhookReplays }: WebhookReplayWorkDeps,
): Promise<WebhookReplay | undefined> {
  // The ID of the next event is planned now, so a crash before its result does not change it.
  const planned: WebhookReplayPlan = done ? { parent: newId() } : (replay.planned as WebhookReplayPlan);
  const status = await webhookReplays.save(replay, {
    position,
    planned,
    counts: done ? { [done.outcome]: 1 } : {},
    results: done ? [{ list: done.outcome, result: done.result }] : [],
  });
  if (status !== 'running') return undefined;
  return { ...replay, position, planned, portion: String(Number(replay.portion) + 1) };
}

async function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs > 0) await setTimeout(delayMs, undefined, { signal, ref: false }).catch(() => {});
}

const MESSAGE_MAX_LENGTH = 500;

export interface ReplayRequestDeps extends ProcessWebhookDeps {
  webhookLog: Pick<History['webhookLog'], 'read'>;
  log: Logger;
}

/** Processes the request as if it were received now, with an event ID that a repetition uses again.
 *  @throws ServiceError one of the temporary errors */
async function replayRequest(
  requestId: string,
  { id: replayId, parent }: WebhookReplayPlan & { id: string },
  { webhook, draft }: { webhook: WebhookInUse; draft: Draft | undefined },
  deps: ReplayRequestDeps,
): Promise<WebhookReplayResult & { status: WebhookReplayOutcome }> {
  const logged = await deps.webhookLog.read(webhook.id, requestId);
  const skipped = (reason: string) => ({ requestId, status: 'skipped' as const, reason });
  if (!logged) return skipped('request_gone');
  const { summary } = logged;
  // A re-run is skipped: the request that it repeats is replayed itself.
  if (summary.rerunOf !== undefined) return skipped('rerun');
  const eventId = deps.ids.derived(parent, 'webhook-replay', replayId, requestId);
  try {
    const result = await deps.largeBodies.withBodyOf(webhook.id, logged, async (body) => {
      return body && processWebhook(webhook, requestOf(logged, body), deps, { draft, eventId, logged: summary });
    });
    if (!result) return skipped('body_missing');
    const { decided, ids } = result;
    switch (decided.outcome) {
      case 'accepted':
        if (ids[0] !== eventId) return { ...skipped('duplicate'), eventId: ids[0] };
        return { requestId, status: 'done', eventId };
      case 'held':
        return { requestId, status: 'done', eventId, reason: decided.reason };
      case 'rejected':
        throw decided.error;
      default:
        return skipped(decided.outcome);
    }
  } catch (thrown) {
    const error = toServiceError(thrown);
    const failed = { requestId, status: 'failed' as const };
    if (!(error instanceof ServiceError)) {
      deps.log.error({ err: error, replay: replayId, request_id: requestId }, 'a request could not be replayed');
      return { ...failed, reason: 'internal' };
    }
    if (PASSING_ERRORS.has(error.code)) throw error;
    return { ...failed, reason: error.code, message: error.message.slice(0, MESSAGE_MAX_LENGTH) };
  }
}

function requestOf({ summary, headers, search }: LoggedRequest, body: Buffer): WebhookRequest {
  const { id: requestId, method } = summary;
  return { requestId, receivedAt: Date.now(), method, headers, search, body, large: largeOf(summary) };
}
