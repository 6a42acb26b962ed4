/** `/v1/webhooks/:id/reconcile`, `/completeness`: compares the received requests with those that the provider sent
 *  (docs/webhooks.md#nothing-missing). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { newId } from '../../model/ids.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import { timeSchema } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { existingWebhook } from '../receive/existing-webhook.ts';
import { completenessOf } from '../reconciliation/completeness.ts';
import { ownerOfWebhook } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { completenessSchema, presentCompleteness } from '../views/webhook-completeness.ts';

export function webhookReconciliationRoutes({ webhooks, webhookReconciliations }: ApiParts): Route[] {
  const routes = routesOf({ tag: 'Webhooks', scope: 'owner', owner: ownerOfWebhook(webhooks) });
  /** @throws ServiceError not_found, input_invalid */
  async function reconciled(id: string): Promise<Webhook> {
    const webhook = await existingWebhook(webhooks, id);
    if (webhook.reconciliation) return webhook;
    throw new ServiceError('input_invalid', {
      detail: 'the webhook has no access to what its provider sent: set "reconciliation" with PATCH /v1/webhooks/:id',
    });
  }

  async function present(webhook: Webhook, since: number | undefined) {
    return { data: presentCompleteness(webhook, await completenessOf(webhook, since, { webhookReconciliations })) };
  }

  return [
    routes.post('/v1/webhooks/:id/reconcile', {
      operationId: 'reconcileWebhook',
      summary: 'Reconcile a webhook',
      description:
        'Compares, in the background, what came with what the provider sent, and recovers what is missing, also what could not be recovered before. ' +
        'The service does the same every hour and after an outage.',
      body: z.object({
        since: timeSchema.optional().describe('Default: since the last comparison'),
        redeliver: z
          .boolean()
          .default(false)
          .describe(
            'Ask the provider to send what is missing again, instead of fetching it. The key needs write access',
          ),
      }),
      status: 202,
      data: completenessSchema,
      errors: ['not_found', 'input_invalid'],
      async handle({ params: { id }, body: { since, redeliver } }) {
        const webhook = await reconciled(id);
        const { problem } = await webhookReconciliations.state(id);
        const asked = { id: newId(), since, ...(redeliver && { redeliver }) };
        // A provider that said when to try again is not asked before that time.
        await webhookReconciliations.change(id, { asked, ...(problem?.reason !== 'rate_limited' && { dueAt: 0 }) });
        return present(webhook, since);
      },
    }),
    routes.get('/v1/webhooks/:id/completeness', {
      operationId: 'getWebhookCompleteness',
      summary: 'Get what of a provider came and what is missing',
      query: z.object({
        since: timeSchema.optional().describe('Default: since the comparison began, at most 7 days'),
      }),
      data: completenessSchema,
      errors: ['not_found', 'input_invalid'],
      async handle({ params: { id }, query: { since } }) {
        return present(await reconciled(id), since);
      },
    }),
  ];
}
