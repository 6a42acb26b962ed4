import { orNotFound } from '../../errors.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';

/** @throws ServiceError not_found */
export async function existingWebhook(webhooks: Webhooks, id: string): Promise<Webhook> {
  return orNotFound(await webhooks.read(id), 'webhook', id);
}
