import { notFound } from '../../errors.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';

/** @throws ServiceError not_found */
export async function existingWebhook(webhooks: Webhooks, id: string): Promise<Webhook> {
  const webhook = await webhooks.read(id);
  if (!webhook) throw notFound('webhook', id);
  return webhook;
}
