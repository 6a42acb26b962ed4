/** Webhook requests that destinations forward: the copy stored for the destination, otherwise the one in the
 *  webhook's log. */
import type { WebhookBodyStore } from '../archive/webhook-bodies.ts';
import type { OriginalRequest } from '../functions/destination-request.ts';
import type { MemoryBudget } from '../model/capacity/memory-budget.ts';
import { Composed } from '../model/values/composed.ts';
import { LARGE_BODY_MAX_BYTES } from '../model/webhooks/large-bodies.ts';
import type { OriginalRequests } from '../store/webhooks/original-requests.ts';
import type { History } from './history.ts';

export class Originals extends Composed<{
  originalRequests: Pick<OriginalRequests, 'read'>;
  history: { webhookLog: Pick<History['webhookLog'], 'read'> };
  /** Store of large bodies; undefined without an archive and a bucket. */
  bodyStore: Pick<WebhookBodyStore, 'read'> | undefined;
  /** For large bodies, by webhook. */
  bodyMemory: Pick<MemoryBudget, 'reserve'>;
}> {
  /** Waits for the memory for a large body, for as long as other calls have it. `release` of the request must follow.
   *  @returns undefined: it is not stored
   *  @throws ServiceError archive_unavailable */
  async read(webhookId: string, requestId: string): Promise<OriginalRequest | undefined> {
    const { originalRequests, history, bodyStore, bodyMemory } = this.deps;
    const kept =
      (await originalRequests.read(webhookId, requestId)) ?? (await history.webhookLog.read(webhookId, requestId));
    if (!kept) return undefined;
    const { headers } = kept;
    const { storedBody, bodyBytes = LARGE_BODY_MAX_BYTES } = 'summary' in kept ? kept.summary : kept;
    if (storedBody === undefined) return kept.body && { headers, body: kept.body };
    const release = await bodyMemory.reserve(webhookId, bodyBytes);
    try {
      const body = await bodyStore?.read(webhookId, storedBody);
      if (body) return { headers, body, release };
    } catch (error) {
      release?.();
      throw error;
    }
    release?.();
    return undefined;
  }
}
