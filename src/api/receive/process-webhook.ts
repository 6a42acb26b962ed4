/** Processes a webhook request, a new one or one from the log (docs/webhooks.md#request-life-cycle): answers
 *  handshakes, verifies, filters, runs the transform, decides the outcome (webhook-outcome.ts) and commits it. A dry
 *  run decides and does not commit. */

import { ServiceError } from '../../errors.ts';
import type { Acceptor } from '../../jobs/acceptance/acceptor.ts';
import type { FunctionTables } from '../../jobs/functions/function-tables.ts';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import type { Event } from '../../model/events/event.ts';
import { newId } from '../../model/ids.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { EVENT_ORDER, type EventOrder } from '../../model/webhooks/webhook-order.ts';
import { defaultId, ownId } from '../../providers/default-id.ts';
import { respondToHandshake } from '../../providers/handshakes.ts';
import type { ProviderRequest } from '../../providers/provider-request.ts';
import type { Store } from '../../store/store.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type { Transforms } from '../../transforms/transforms.ts';
import { selectionOf } from '../http/environment-selection.ts';
import { parseFields } from '../http/urlencoded.ts';
import type { Draft } from './draft.ts';
import type { WebhookFilters } from './filter-webhook.ts';
import type { LargeBodies, LargeBodyParts } from './large-bodies.ts';
import type { WebhookOrders } from './order-webhook.ts';
import { resolveEnvironment } from './resolve-environment.ts';
import { withoutSecrets } from './stored-credentials.ts';
import {
  errorOf,
  type LoggedReceipt,
  type LoggedVerification,
  providerRequestOf,
  type VerifyWebhookDeps,
  verifyWebhook,
} from './verify-webhook.ts';
import { decideOutcome, rejected, type WebhookDecision, type WebhookResult } from './webhook-outcome.ts';
import { largeBodyRequest, toTransformRequest, type WebhookRequest } from './webhook-request.ts';

/** Temporary errors of the service: the same request is processed again later. */
export const PASSING_ERRORS: ReadonlySet<string> = new Set([
  'archive_unavailable',
  'backlog_full',
  'memory_short',
  'overloaded',
  'transform_quarantined',
  'unavailable',
]);

export interface ProcessWebhookDeps
  extends VerifyWebhookDeps,
    Pick<Store, 'environments' | 'heldEvents' | 'ids' | 'originalRequests'> {
  functionTables: FunctionTables;
  eventMaxFutureMs: number;
  webhookFilters: Pick<WebhookFilters, 'passes'>;
  transforms: Transforms;
  webhookOrders: Pick<WebhookOrders, 'ordered'>;
  acceptor: Acceptor;
  telemetry: Telemetry;
  largeBodies: LargeBodies;
}

export interface ProcessOptions {
  /** Decides and does not commit. */
  dryRun?: boolean;
  /** Replaces the webhook's own transform and filter. */
  draft?: Draft | undefined;
  /** Internal ID for the event, which makes repeated processing idempotent. Default: a new ID. */
  eventId?: string | undefined;
  /** Set for a request from the log: a request that was not verified on receipt is verified now. */
  logged?: LoggedReceipt | undefined;
}

/** Never throws: an error becomes the outcome `rejected`. */
export async function processWebhook(
  webhook: WebhookInUse,
  request: WebhookRequest,
  deps: ProcessWebhookDeps,
  options: ProcessOptions = {},
): Promise<WebhookResult> {
  let verification: LoggedVerification | undefined;
  try {
    const { large } = request;
    const parts = large && (await deps.largeBodies.parse(webhook, request, large.storedAs));
    const providerRequest = providerRequestOf(webhook, request, deps, parts?.json);
    const hasHandshakes = webhook.preset !== undefined && webhook.preset.handshakes.length > 0;
    const unverifiedHandshake =
      hasHandshakes && (await handshakeOf(webhook, providerRequest, undefined, options, deps));
    if (unverifiedHandshake) return { decided: unverifiedHandshake, ids: [], console: [], verification };
    rejectHandshakeMethod(webhook, request.method);
    verification = await verifyWebhook(webhook, providerRequest, options.logged, deps);
    const receipt = verification ?? { result: 'skipped' as const };
    const handshake = hasHandshakes && (await handshakeOf(webhook, providerRequest, receipt, options, deps));
    if (handshake) return { decided: handshake, ids: [], console: [], verification };
    if (large && parts && !large.isStored && !options.dryRun) {
      const { sha256 } = parts.reference;
      await deps.largeBodies.keep({ webhookId: webhook.id, requestId: large.storedAs, body: request.body, sha256 });
      large.isStored = true;
    }
    // The comparison with what the provider sent needs this ID.
    const providerId = webhook.reconciliation && webhook.preset && ownId(webhook.preset, providerRequest);
    const input = { request, providerRequest, parts };
    const { decided, console } = await runAndDecide(webhook, input, verification, options, deps);
    if (!options.dryRun) await keepOriginal(decided, webhook, request, verification, deps);
    const ids = options.dryRun ? [] : await commit(decided, webhook, { ...request, eventId: options.eventId }, deps);
    return { decided, ids, console, verification, ...(providerId && { providerId }) };
  } catch (error) {
    return { ...rejected(error), ...(verification && { verification }) };
  }
}

/** @param verification result for the request; undefined if it has not been verified yet
 *  @throws ServiceError verification_failed, verification_unavailable */
async function handshakeOf(
  { preset, openSecrets, liveSecrets, settings = {} }: WebhookInUse,
  request: ProviderRequest,
  verification: LoggedVerification | undefined,
  { dryRun }: ProcessOptions,
  { fetchDocument }: VerifyWebhookDeps,
): Promise<WebhookDecision | undefined> {
  if (!preset) return undefined;
  // Uses the secret that matched, because the provider may not know the newest secret yet.
  const matched = liveSecrets.findIndex(({ id }) => id === verification?.secretId);
  const response = await respondToHandshake(preset, request, {
    verified: verification !== undefined,
    secrets: matched > 0 ? openSecrets.slice(matched) : openSecrets,
    settings,
    fetchDocument: dryRun ? async () => '' : fetchDocument,
  });
  if (!response) return undefined;
  if ('result' in response) throw errorOf(response);
  return { outcome: 'handshake', response };
}

/** Methods used only by handshakes make no events.
 *  @throws ServiceError method_not_allowed */
function rejectHandshakeMethod({ eventMethods, acceptedMethods }: WebhookInUse, method: string): void {
  const includesMethod = (methods: readonly string[]) => methods.includes(method);
  if (includesMethod(eventMethods) || !includesMethod(acceptedMethods)) return;
  throw new ServiceError('method_not_allowed', {
    detail: `got ${method}, which is for the provider's handshake, and the request is none`,
  });
}

async function runAndDecide(
  webhook: WebhookInUse,
  {
    request,
    providerRequest,
    parts,
  }: { request: WebhookRequest; providerRequest: ProviderRequest; parts: LargeBodyParts | undefined },
  verification: LoggedVerification | undefined,
  { draft }: ProcessOptions,
  { environments, webhookFilters, transforms, webhookOrders, eventMaxFutureMs }: ProcessWebhookDeps,
): Promise<Pick<WebhookResult, 'console'> & { decided: WebhookDecision }> {
  const { method, headers, search, receivedAt } = request;
  const selection = selectionOf(headers, search === '' ? {} : parseFields(search, 'the query string'));
  const resolution = await resolveEnvironment(webhook.env, selection, environments);
  const { id, version, transform: code, allowList, preset, deduplicate = true } = webhook;
  const transformRequest = parts
    ? largeBodyRequest(parts, request)
    : await toTransformRequest(request.body, headers, search);
  const filter = draft?.filter ?? webhook;
  const received = { ...transformRequest, method, headers, receivedAt };
  if (filter.filterExpression && !(await webhookFilters.passes(filter, received))) {
    return { decided: { outcome: 'filtered', events: [], reason: 'filter_not_met' }, console: [] };
  }
  const transform = draft?.transform ?? { id, version: String(version), code };
  const { returned, text, logs } = await transforms.run(transform, transformRequest);
  const decided = decideOutcome({
    returned,
    text,
    allowList,
    selection,
    resolution,
    receivedAt,
    eventMaxFutureMs,
    defaultId: () => (preset && deduplicate ? defaultId(preset, providerRequest, id) : undefined),
    verified: verification && verification.result === 'verified',
  });
  if (decided.outcome !== 'accepted' && decided.outcome !== 'held') return { decided, console: logs };
  const events = webhookOrders.ordered(webhook, decided.events, received);
  return { decided: { ...decided, events }, console: logs };
}

/** Keeps the request, which destinations may forward.
 *  @throws ServiceError unavailable when Redis did not store it */
async function keepOriginal(
  decided: WebhookDecision,
  webhook: WebhookInUse,
  { requestId, headers, search, body, large }: WebhookRequest,
  verification: LoggedVerification | undefined,
  { functionTables, originalRequests, acceptor }: ProcessWebhookDeps,
): Promise<void> {
  if (decided.outcome !== 'accepted') return;
  const functions = await functionTables.recent(decided.env);
  if (!functions.needsRequestsOf(webhook.id)) return;
  const original = {
    headers: withoutSecrets(webhook, verification, { headers, search }).headers,
    body,
    storedBody: large?.storedAs,
  };
  await acceptor.writeDurably(() => originalRequests.save(webhook.id, requestId, original));
}

/** @returns internal IDs of the events
 *  @throws ServiceError unavailable when Redis did not store them */
async function commit(
  decided: WebhookDecision,
  webhook: WebhookInUse,
  { requestId, receivedAt, eventId }: WebhookRequest & Pick<ProcessOptions, 'eventId'>,
  { ids, acceptor, heldEvents, telemetry }: ProcessWebhookDeps,
): Promise<string[]> {
  switch (decided.outcome) {
    case 'accepted': {
      const { events, env } = decided;
      const request = { env, source: `webhook:${webhook.id}` as const, requestId, receivedAt };
      if (eventId === undefined) return acceptor.accept(events, request);
      return Promise.all(
        events.map((event, index) => acceptor.acceptWithId(event, idAt(ids, eventId, index), request, index)),
      );
    }
    case 'held': {
      const { reason, selection } = decided;
      const held = decided.events.map((event: Event, index) => ({
        internalId: eventId === undefined ? newId(receivedAt) : idAt(ids, eventId, index),
        webhookId: webhook.id,
        env: webhook.env,
        selection,
        reason,
        event: { ...event, ts: event.ts ?? receivedAt },
        ...orderOf(event),
        receivedAt,
        requestId,
      }));
      await acceptor.writeDurably(() => Promise.all(held.map((event) => heldEvents.hold(event))));
      for (const { internalId } of held) telemetry.publishHeldEvent(internalId);
      return held.map(({ internalId }) => internalId);
    }
    case 'filtered':
    case 'ignored':
    case 'handshake':
      return [];
  }
}

function orderOf(event: Event & { [EVENT_ORDER]?: EventOrder }): { order?: EventOrder } {
  const order = event[EVENT_ORDER];
  return order ? { order } : {};
}

/** Only the first event of a request has the given ID. */
function idAt(ids: PartitionedIds, eventId: string, index: number): string {
  return index === 0 ? eventId : ids.derived(eventId, 'webhook-event', String(index));
}
