/** Webhooks, the log of their requests, and the events that wait for an environment. */
import type { StoreContext } from '../store-context.ts';
import { HeldEvents } from './held-events.ts';
import { UnarchivedRequests } from './unarchived-requests.ts';
import { WebhookLog } from './webhook-log.ts';
import { WebhookReplays } from './webhook-replays.ts';
import { Webhooks } from './webhooks.ts';

export interface WebhookStore {
  webhooks: Webhooks;
  webhookLog: WebhookLog;
  heldEvents: HeldEvents;
  unarchivedRequests: UnarchivedRequests;
  webhookReplays: WebhookReplays;
}

export function createWebhookStore({ redis, keys, config, cacheInvalidation }: StoreContext): WebhookStore {
  return {
    webhooks: new Webhooks(redis, keys, cacheInvalidation),
    webhookLog: new WebhookLog(redis, keys, config.webhookLogSize, config.archive !== undefined),
    unarchivedRequests: new UnarchivedRequests(redis, keys, config.webhookLogSize),
    webhookReplays: new WebhookReplays(redis, keys),
    heldEvents: new HeldEvents(redis, keys, config.retentionMs),
  };
}
