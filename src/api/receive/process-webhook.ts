/** Processes a webhook request, a new one or one from the log (docs/webhooks.md#request-life-cycle): runs the transform, decides the outcome
 *  (webhook-outcome.ts) and commits it. A dry run decides and does not commit. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Acceptor } from '../../jobs/ingestion/acceptor.ts';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import { newId } from '../../model/ids.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { HeldEvents } from '../../store/webhooks/held-events.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-directory.ts';
import type { Transform, Transforms } from '../../transforms/transforms.ts';
import { selectionOf } from '../http/environment-selection.ts';
import { parseFields } from '../http/urlencoded.ts';
import { resolveEnvironment } from './resolve-environment.ts';
import { type Decision, decide, type WebhookResult } from './webhook-outcome.ts';
import { toTransformRequest } from './webhook-request.ts';

export interface ProcessWebhookDeps {
  eventMaxFutureMs: number;
  environments: Environments;
  transforms: Transforms;
  acceptor: Acceptor;
  heldEvents: HeldEvents;
  telemetry: Telemetry;
}

export interface WebhookRequest {
  requestId: string;
  /** Unix milliseconds. */
  receivedAt: number;
  headers: IncomingHttpHeaders;
  /** The query string. */
  search: string;
  body: Buffer;
}

export interface ProcessOptions {
  /** Decides and does not commit. */
  dryRun?: boolean;
  /** Runs instead of the webhook's own. */
  draft?: Transform | undefined;
  /** Internal ID of the event: processing the request again under the same one changes nothing. Default: a new one. */
  eventId?: string | undefined;
}

/** @throws ServiceError environment_archived, too_many_fields, transform_failed, transform_quarantined, overloaded, unavailable */
export async function processWebhook(
  webhook: WebhookInUse,
  request: WebhookRequest,
  deps: ProcessWebhookDeps,
  { dryRun = false, draft, eventId }: ProcessOptions = {},
): Promise<WebhookResult> {
  const { decided, console } = await runAndDecide(webhook, draft, request, deps);
  const ids = dryRun ? [] : await commit(decided, webhook, { ...request, eventId }, deps);
  return { decided, ids, console };
}

async function runAndDecide(
  webhook: WebhookInUse,
  draft: Transform | undefined,
  { headers, search, body, receivedAt }: WebhookRequest,
  { environments, transforms, eventMaxFutureMs }: ProcessWebhookDeps,
) {
  const selection = selectionOf(headers, search === '' ? {} : parseFields(search, 'the query string'));
  const resolution = await resolveEnvironment(webhook.env, selection, environments);
  const { id, version, transform: code, allowList } = webhook;
  const transformRequest = await toTransformRequest(body, headers, search);
  const { event: returned, text, logs } = await transforms.run(draft ?? { id, version, code }, transformRequest);
  const decided = decide({ returned, text, allowList, selection, resolution, receivedAt, eventMaxFutureMs });
  return { decided, console: logs };
}

/** @returns internal ID of the event; empty when there is none
 *  @throws ServiceError unavailable when Redis did not store the event */
async function commit(
  decided: Decision,
  webhook: WebhookInUse,
  { requestId, receivedAt, eventId }: WebhookRequest & Pick<ProcessOptions, 'eventId'>,
  { acceptor, heldEvents, telemetry }: ProcessWebhookDeps,
): Promise<string[]> {
  switch (decided.outcome) {
    case 'accepted': {
      const { event, env } = decided;
      const request = { env, source: `webhook:${webhook.id}` as const, requestId, receivedAt };
      return eventId === undefined
        ? acceptor.accept([event], request)
        : [await acceptor.acceptWithId(event, eventId, request)];
    }
    case 'held': {
      const { reason, selection } = decided;
      const internalId = eventId ?? newId(receivedAt);
      const event = { ...decided.event, ts: decided.event.ts ?? receivedAt };
      const held = { internalId, webhookId: webhook.id, selection, reason, event, receivedAt, requestId };
      await acceptor.writeDurably(() => heldEvents.hold(held));
      telemetry.publishHeldEvent(internalId);
      return [internalId];
    }
    case 'filtered':
    case 'ignored':
      return [];
  }
}
