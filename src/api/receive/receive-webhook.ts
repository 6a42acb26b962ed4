/** A provider's request to a webhook (docs/webhooks.md#request-life-cycle): read, refused or taken in, and logged whatever became of it. */
import type { Context } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { InstallationLimits } from '../../store/environments/installation-limits.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-directory.ts';
import type { LogSummary } from '../../store/webhooks/webhook-log.ts';
import { readBody } from '../http/body.ts';
import { clientAddress } from '../http/client-address.ts';
import { refuseAddress } from './allow-list.ts';
import { type ProcessWebhookDeps, reasonOf, take } from './process-webhook.ts';
import type { RequestLogWriter } from './request-log-writer.ts';
import type { Received } from './resolve-environment.ts';

const PAUSED_RETRY_AFTER_SECONDS = 300;

export interface FromWebhookDeps extends ProcessWebhookDeps {
  config: Config;
  installationLimits: InstallationLimits;
  pressure: Backpressure;
  recorder: RequestLogWriter;
}

/** @returns the internal ID of the event; none when it made none, or one that is filtered out */
export async function receiveFromWebhook(
  ctx: Context,
  webhook: WebhookInUse,
  receivedAt: number,
  deps: FromWebhookDeps,
): Promise<Received> {
  const { config, installationLimits, pressure, recorder, reports } = deps;
  const { headers } = ctx.req;
  const search = ctx.querystring;
  const requestId = ctx.state.requestId as string;
  const ip = clientAddress(ctx);
  if (pressure.full) {
    // Unread and unlogged: the log of all providers' repeats would fill what is nearly full.
    refuseAddress(webhook.allowList, ip);
    pressure.admit();
  }
  const startedAt = performance.now();
  let body: Buffer | undefined;
  try {
    // Also of those that are refused: the log has them whole, and they can be put through again.
    body = await readBody(ctx.req, installationLimits.limits.eventMaxBytes ?? config.eventMaxBytes);
    reports.recordReceived(body.length);
    refuseAddress(webhook.allowList, ip);
    refusePaused(webhook);
    const { event, env, ...taken } = await take(webhook, { requestId, receivedAt, headers, search, body }, deps);
    record({ ...taken, status: 200, eventName: event?.name });
    return { ids: taken.ids, env };
  } catch (error) {
    record({ outcome: 'rejected', ids: [], ...reasonOf(error) });
    throw error;
  }

  function record(
    what: Pick<LogSummary, 'outcome' | 'status' | 'reason' | 'message' | 'eventName' | 'ids' | 'console'>,
  ) {
    const durationMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000;
    const summary = { id: requestId, receivedAt, method: ctx.method, ip, durationMs, bodyBytes: body?.length, ...what };
    reports.recordWebhookAnswer(what.outcome);
    recorder.record(webhook.id, { summary, headers, search, body });
  }
}

/** Providers try again after a 503, so that a short pause loses nothing. */
function refusePaused({ pausedAt }: WebhookInUse): void {
  if (pausedAt === undefined) return;
  throw new ServiceError('webhook_paused', {
    detail: `since ${new Date(pausedAt).toISOString()}`,
    retryAfterSeconds: PAUSED_RETRY_AFTER_SECONDS,
  });
}
