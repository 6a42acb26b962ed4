/** Webhooks, the logs of their requests, and held events. */
import { Sealer } from '../../model/auth/seal.ts';
import type { StoreContext } from '../store-context.ts';
import { HeldEvents } from './held-events.ts';
import { OriginalRequests } from './original-requests.ts';
import { Transmissions } from './transmissions.ts';
import { UnarchivedRequests } from './unarchived-requests.ts';
import { WebhookIssues } from './webhook-issues.ts';
import { TTL_MS, WebhookLog } from './webhook-log.ts';
import { WebhookReconciliations } from './webhook-reconciliations.ts';
import { WebhookTraffic } from './webhook-traffic.ts';
import { WebhookVersions } from './webhook-versions.ts';
import { WebhookWatch } from './webhook-watch.ts';
import { Webhooks } from './webhooks.ts';

export function createWebhookStore({ redis, keys, ids, config, cacheInvalidation }: StoreContext) {
  const sealer = new Sealer(config.secretKey, config.secretKeyFallback);
  const maxRequests = config.webhookLogSize;
  return {
    webhooks: new Webhooks(redis, keys, { sealer, cacheInvalidation }),
    webhookVersions: new WebhookVersions(redis, keys),
    webhookLog: new WebhookLog(redis, keys, { maxRequests, hasArchive: config.archive !== undefined }),
    originalRequests: new OriginalRequests(redis, keys, { ttlMs: Math.min(config.hotTtlMs, TTL_MS) }),
    unarchivedRequests: new UnarchivedRequests(redis, keys, { maxRequests }),
    webhookIssues: new WebhookIssues(redis, keys, ids),
    webhookTraffic: new WebhookTraffic(redis, keys),
    webhookReconciliations: new WebhookReconciliations(redis, keys),
    transmissions: new Transmissions(redis, keys),
    webhookWatch: new WebhookWatch(redis, keys),
    heldEvents: new HeldEvents(redis, keys, { retentionMs: config.retentionMs }),
  };
}
