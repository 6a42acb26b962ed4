/** `/v1/webhooks/:id/secrets`: rotates the secret of a webhook. */
import { z } from 'zod';
import { invalidField, ServiceError } from '../../errors.ts';
import { presetOf } from '../../providers/catalog.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import { keepOldSeconds } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { ownerOfWebhook } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { presentWebhook, webhookSchema } from '../views/webhook.ts';
import { checkSecrets, SECRETS_MAX, sealed, secretSchema } from '../views/webhook-verification-input.ts';

export function webhookSecretRoutes({ publicUrl, webhooks }: ApiParts): Route[] {
  const routes = routesOf({ tag: 'Webhooks', scope: 'owner', owner: ownerOfWebhook(webhooks) });
  const present = (webhook: Webhook, origin: string) => ({
    data: presentWebhook(webhook, publicUrl ?? origin, Date.now()),
  });
  return [
    routes.post('/v1/webhooks/:id/secrets', {
      operationId: 'addWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      description:
        'The new secret is valid at once. The previous secret stays valid for the given time; older secrets become invalid.',
      body: z.object({
        secret: secretSchema,
        keep_old_seconds: keepOldSeconds.describe(
          'How long the previous secret stays valid; 0: it becomes invalid at once',
        ),
      }),
      data: webhookSchema,
      errors: ['not_found', 'input_invalid', 'version_conflict'],
      async handle({ params: { id }, body: { secret, keep_old_seconds }, origin }) {
        const now = Date.now();
        const until = now + keep_old_seconds * 1_000;
        const added = sealed(id, [secret], webhooks);
        const rotate = (before: Webhook): Webhook => {
          checkNewSecret(before, secret);
          const kept = (before.secrets ?? [])
            .map((old) => ({ ...old, until: Math.min(old.until ?? until, until) }))
            .filter((old) => old.until > now);
          return { ...before, secrets: [...added, ...kept].slice(0, SECRETS_MAX), updatedAt: now };
        };
        return present(await webhooks.change(id, rotate), origin);
      },
    }),
    routes.delete('/v1/webhooks/:id/secrets/:secret', {
      operationId: 'removeWebhookSecret',
      summary: 'Remove a secret of a webhook',
      description: 'A webhook without a secret rejects all requests, unless `verify` is false.',
      params: z.object({ id: z.string(), secret: z.string().describe('ID of the secret') }),
      data: webhookSchema,
      errors: ['not_found', 'version_conflict'],
      async handle({ params: { id, secret }, origin }) {
        const remove = (before: Webhook): Webhook => {
          const secrets = (before.secrets ?? []).filter((kept) => kept.id !== secret);
          if (secrets.length === before.secrets?.length || !before.secrets) {
            throw new ServiceError('not_found', { detail: `the webhook has no secret with the ID "${secret}"` });
          }
          return { ...before, secrets, updatedAt: Date.now() };
        };
        return present(await webhooks.change(id, remove), origin);
      },
    }),
  ];
}

/** @throws ServiceError input_invalid */
function checkNewSecret({ provider, verification, settings }: Webhook, secret: string): void {
  const preset = provider === undefined ? undefined : presetOf(provider);
  const scheme = verification ?? preset?.verification;
  if (!scheme) {
    const remedy = 'Set "provider" with PATCH /v1/webhooks/:id';
    throw invalidField('secret', `got one; expected none: the webhook has no provider. ${remedy}`);
  }
  checkSecrets(scheme, [secret], preset, settings, 'secret');
}
