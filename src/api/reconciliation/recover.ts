/** Recovers a request that a provider sent and the service did not receive: fetches it, and processes it as if it
 *  had been received. The ID of its event is stored first, so a repetition after a crash makes the same event. */
import { ServiceError } from '../../errors.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Logger } from '../../log.ts';
import { newId } from '../../model/ids.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import { ownId } from '../../providers/default-id.ts';
import type { MadeRequest } from '../../providers/sent-requests.ts';
import { toServiceError } from '../../store/redis/connection/connection.ts';
import type { Store } from '../../store/store.ts';
import type { MissingRequest } from '../../store/webhooks/reconciliation-state.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import { loggedRequestOf } from '../receive/logged-request.ts';
import { PASSING_ERRORS, type ProcessWebhookDeps, processWebhook } from '../receive/process-webhook.ts';
import type { RequestLogWriter } from '../receive/request-log-writer.ts';
import { providerRequestOf } from '../receive/verify-webhook.ts';
import type { WebhookRequest } from '../receive/webhook-request.ts';
import { ListProblem, type ProviderList } from './provider-list.ts';

/** Reasons that may no longer apply in the next round. */
const TEMPORARY: ReadonlySet<string> = new Set([
  'provider_failed',
  'provider_silent',
  'provider_unreachable',
  'redelivery_asked',
]);
/** Errors in the response for one item, which say nothing about the provider as a whole. */
const ITEM_ERRORS: ReadonlySet<string> = new Set(['answer_invalid', 'response_too_large']);
/** Maximum number of tries: an item that cannot be fetched does not hold up others. */
const TRIES_MAX = 3;
const MESSAGE_MAX_LENGTH = 300;
/** Events are deduplicated for 24 hours. */
const DEDUPLICATED_MS = 23 * HOUR_MS;

export interface RecoverDeps extends ProcessWebhookDeps, Pick<Store, 'webhookReconciliations' | 'eventLimits'> {
  requestLogWriter: Pick<RequestLogWriter, 'add'>;
  backpressure: Pick<Backpressure, 'admit'>;
  log: Logger;
}

/** Whether to try a request again that could not be recovered: when asked, or when the webhook has changed. */
export function isDue(
  { reason, version }: MissingRequest,
  webhook: Pick<WebhookInUse, 'version'>,
  asked: boolean,
): boolean {
  return (
    asked || reason === undefined || TEMPORARY.has(reason) || (version !== undefined && version !== webhook.version)
  );
}

/** @param redeliver ask the provider to send it again, instead of fetching it
 *  @throws ListProblem; ServiceError that is temporary */
export async function recover(
  missing: MissingRequest,
  webhook: WebhookInUse,
  { list, redeliver }: { list: Pick<ProviderList, 'item' | 'redeliver'>; redeliver: boolean },
  deps: RecoverDeps,
): Promise<void> {
  const { webhookReconciliations } = deps;
  const { id, ref } = missing;
  // A retry of the provider arrived meanwhile.
  if (await webhookReconciliations.wasReceived(webhook.id, id))
    return webhookReconciliations.settle(webhook.id, id, 'received');
  const remains = async (reason: string, message?: string, more: Partial<MissingRequest> = {}) => {
    const told = { reason, message: message?.slice(0, MESSAGE_MAX_LENGTH), ...more };
    await webhookReconciliations.describeMissing(webhook.id, { id, ref, at: missing.at, ...told });
  };
  const askAgain = async (otherwise: string) =>
    (await list.redeliver(ref)) ? remains('redelivery_asked') : remains(otherwise);
  if (redeliver) return askAgain('redelivery_refused');
  // The pass took so long that it is no longer known whether the request was received.
  if (missing.at < comparableSince(webhook, Date.now())) return remains('too_old');
  let found: Awaited<ReturnType<ProviderList['item']>>;
  try {
    found = await list.item(ref);
  } catch (error) {
    if (!(error instanceof ListProblem)) throw error;
    const { tries = 0 } = missing;
    if (!ITEM_ERRORS.has(error.reason) && (!TEMPORARY.has(error.reason) || tries + 1 < TRIES_MAX)) {
      await webhookReconciliations.describeMissing(webhook.id, { ...missing, tries: tries + 1 });
      throw error;
    }
    return remains(error.reason, error.message);
  }
  if (!found) return remains('provider_forgot');
  if (!found.request) return askAgain('body_gone');
  const request = asReceived(found.request);
  if (webhook.preset && ownId(webhook.preset, providerRequestOf(webhook, request, deps)) !== id) {
    return remains('other_request', 'the provider answered with a request that has another ID');
  }
  const limit = Math.min(webhook.maxBodyBytes ?? Number.POSITIVE_INFINITY, deps.eventLimits.of(webhook.env).bytes);
  const largest = deps.largeBodies.canKeep ? Math.max(limit, webhook.largeBodies?.maxBytes ?? 0) : limit;
  if (request.body.length > largest)
    return remains('body_too_large', `${request.body.length} bytes; at most ${largest} are accepted`);
  if (request.body.length > limit) request.large = { storedAs: request.requestId, isStored: false };
  deps.backpressure.admit();
  // The ID is stored before the event.
  const eventId = missing.eventId ?? deps.ids.derived(newId(), 'webhook-recovery', webhook.id, id);
  const isMissing = await webhookReconciliations.describeMissing(webhook.id, { ...missing, eventId });
  // The webhook was deleted meanwhile, or has another list.
  if (!isMissing) return;
  const startedAt = performance.now();
  const fetched = { receivedAt: request.receivedAt, verification: { result: 'verified' as const } };
  const release = request.large ? await deps.largeBodies.reserve(webhook.id, request.body.length) : () => {};
  const result = await processWebhook(webhook, request, deps, { eventId, logged: fetched }).finally(release);
  const { decided } = result;
  if (decided.outcome === 'rejected') {
    const error = toServiceError(decided.error);
    if (error instanceof ServiceError && PASSING_ERRORS.has(error.code)) throw error;
    const reason = error instanceof ServiceError ? error.code : 'internal';
    if (reason === 'internal') deps.log.error({ err: error, webhook: webhook.id }, 'a request could not be recovered');
    log();
    return remains(reason, (error as Error).message, { version: webhook.version });
  }
  const isKnown = decided.outcome === 'accepted' && result.ids.length > 0 && result.ids[0] !== eventId;
  // A request that makes no event may have been received before the comparison began.
  const isOld = decided.outcome !== 'accepted' && missing.at < (webhook.reconciliation?.since ?? 0);
  if (!isKnown && !isOld) log();
  await webhookReconciliations.settle(webhook.id, id, isKnown || isOld ? 'received' : 'recovered');

  function log(): void {
    const logged = loggedRequestOf(webhook, request, result, startedAt, { ip: '', recovered: true });
    deps.requestLogWriter.add(webhook.id, logged);
  }
}

/** Earliest time of a comparison: requests before the IDs of received requests were kept are recognized by their deduplication ID alone. */
export function comparableSince({ reconciliation, deduplicate = true }: WebhookInUse, nowMs: number): number {
  const { since = nowMs } = reconciliation ?? {};
  return deduplicate ? Math.min(since, nowMs - DEDUPLICATED_MS) : since;
}

function asReceived({ headers, body }: MadeRequest): WebhookRequest {
  return { requestId: newId(), receivedAt: Date.now(), method: 'POST', headers, search: '', body };
}
