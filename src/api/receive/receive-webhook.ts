/** Receives a provider's request to a webhook: reads, checks, processes and logs it. Every request that is read is logged, whatever its
 *  outcome, so that it can be re-run. */
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../errors.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import { iso } from '../../model/values/time.ts';
import type { EventLimit } from '../../store/environments/event-limits.ts';
import type { Store } from '../../store/store.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import { readBody } from '../http/body.ts';
import { environmentSelection } from '../http/environment-selection.ts';
import { clientAddress } from '../http/incoming-request.ts';
import type { Context } from '../http/router.ts';
import { rejectDeniedAddress } from './credentials.ts';
import { loggedRequestOf } from './logged-request.ts';
import { type ProcessWebhookDeps, processWebhook } from './process-webhook.ts';
import type { RequestLogWriter } from './request-log-writer.ts';
import type { Received } from './resolve-environment.ts';
import type { UnverifiedLogLimit } from './unverified-log-limit.ts';
import { rejected, responseOf, type WebhookResult } from './webhook-outcome.ts';
import type { LargeRequest } from './webhook-request.ts';
import type { WebhookWatcher } from './webhook-watcher.ts';

const PAUSED_RETRY_AFTER_SECONDS = 300;

export interface ReceiveWebhookDeps extends ProcessWebhookDeps, Pick<Store, 'webhookReconciliations' | 'eventLimits'> {
  backpressure: Backpressure;
  requestLogWriter: RequestLogWriter;
  unverifiedLogLimit: UnverifiedLogLimit;
  webhookWatcher: WebhookWatcher;
}

export async function receiveWebhook(
  ctx: Context,
  webhook: WebhookInUse,
  receivedAt: number,
  deps: ReceiveWebhookDeps,
): Promise<Received> {
  const { backpressure, telemetry, unverifiedLogLimit, requestLogWriter, webhookWatcher } = deps;
  const { headers } = ctx.req;
  // Avoids Koa's getter, which parses the URL.
  const search = ctx.req.url?.includes('?') ? ctx.querystring : '';
  const { requestId } = ctx.state;
  const ip = clientAddress(ctx);
  if (backpressure.full) {
    // The request is rejected unread and not logged: while memory is short, logging the retries of all providers would fill it up.
    rejectDeniedAddress(webhook.allowList, ip);
    webhookWatcher.record(webhook.id, { id: requestId, receivedAt, outcome: 'rejected' });
    backpressure.admit();
  }
  const startedAt = performance.now();
  let body: Buffer | undefined;
  let large: LargeRequest | undefined;
  let release = () => {};
  const result = await readAndProcess()
    .catch(rejected)
    .finally(() => release());
  telemetry.recordWebhookOutcome(result.decided.outcome, result.verification?.result);
  const request = { requestId, receivedAt, method: ctx.method, headers, search, body, large };
  const received = loggedRequestOf(webhook, request, result, startedAt, { ip });
  webhookWatcher.record(webhook.id, received.summary);
  const logged = unverifiedLogLimit.admit(webhook.id, received);
  if (logged) requestLogWriter.add(webhook.id, logged);
  if (isMethodError(result)) ctx.set('allow', webhook.acceptedMethods.join(', '));
  return responseOf(result);

  async function readAndProcess(): Promise<WebhookResult> {
    // The body is read first, so that the log has it even if the request is then rejected.
    const limit = limitOf(webhook, deps.eventLimits.of(environmentSelection(ctx) ?? webhook.env));
    const largest = largestOf(ctx.req, webhook, limit.bytes, deps.largeBodies.canKeep);
    if (largest) release = await deps.largeBodies.reserve(webhook.id, largest.reserved);
    body = await readBody(ctx.req, largest?.bytes ?? limit.bytes, limit.remedy);
    if (body.length > limit.bytes) large = { storedAs: requestId, isStored: false };
    telemetry.recordReceived(body.length);
    rejectDeniedAddress(webhook.allowList, ip);
    rejectMethod(webhook, ctx.method);
    rejectPaused(webhook);
    const request = { requestId, receivedAt, method: ctx.method, headers, search, body, large };
    const processed = await processWebhook(webhook, request, deps);
    const { providerId } = processed;
    // If this fails, the comparison finds the event by its deduplication ID.
    if (providerId)
      await deps.webhookReconciliations.recordReceived(webhook.id, providerId, receivedAt).catch(() => undefined);
    return processed;
  }
}

function limitOf({ id, maxBodyBytes, largeBodies }: WebhookInUse, limit: EventLimit): EventLimit {
  const path = `PATCH /v1/webhooks/${id}`;
  if (largeBodies)
    return {
      bytes: Math.min(maxBodyBytes ?? limit.bytes, limit.bytes),
      remedy: `raise "max_bytes" of its "large_bodies" with ${path}`,
    };
  if (maxBodyBytes !== undefined && maxBodyBytes < limit.bytes) {
    return { bytes: maxBodyBytes, remedy: `raise "max_body_bytes" of the webhook with ${path}` };
  }
  return { ...limit, remedy: `${limit.remedy}, or keep large bodies with "large_bodies" of the webhook (${path})` };
}

/** The maximum of a large body; undefined: the body is not large, or the webhook takes no large bodies.
 *  @returns the maximum, and the memory that reading it may take */
function largestOf({ headers }: IncomingMessage, { largeBodies }: WebhookInUse, limitBytes: number, canKeep: boolean) {
  if (!largeBodies || !canKeep || largeBodies.maxBytes <= limitBytes) return undefined;
  const declared = headers['content-length'];
  if (declared !== undefined && Number(declared) <= limitBytes) return undefined;
  const bytes = largeBodies.maxBytes;
  return { bytes, reserved: declared === undefined ? bytes : Math.min(Number(declared), bytes) };
}

/** @throws ServiceError method_not_allowed */
function rejectMethod({ acceptedMethods }: WebhookInUse, method: string): void {
  if ((acceptedMethods as readonly string[]).includes(method)) return;
  throw new ServiceError('method_not_allowed', {
    detail: `got ${method}; this webhook accepts ${acceptedMethods.join(', ')}`,
  });
}

function isMethodError({ decided }: WebhookResult): boolean {
  return (
    decided.outcome === 'rejected' &&
    decided.error instanceof ServiceError &&
    decided.error.code === 'method_not_allowed'
  );
}

/** Providers retry after a 503, so a short pause loses nothing.
 *  @throws ServiceError webhook_paused */
function rejectPaused({ pausedAt }: WebhookInUse): void {
  if (pausedAt === undefined) return;
  throw new ServiceError('webhook_paused', {
    detail: `since ${iso(pausedAt)}`,
    retryAfterSeconds: PAUSED_RETRY_AFTER_SECONDS,
  });
}
