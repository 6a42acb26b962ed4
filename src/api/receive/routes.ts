/** `POST /e/:key`: the door that every event comes through (docs/events.md, docs/webhooks.md).
 *  Authenticate, place, read, transform (webhooks only), validate, accept, answer; each step answers its own errors and nothing is half done. */
import Router from '@koa/router';
import type { Context } from 'koa';
import { ServiceError } from '../../errors.ts';
import { openToPages } from '../auth/dev-mode-access.ts';
import type { Credentials } from './credentials.ts';
import { type FromKeyDeps, receiveFromKey } from './receive-events.ts';
import { type FromWebhookDeps, receiveFromWebhook } from './receive-webhook.ts';

export interface ReceiveDeps extends FromKeyDeps, FromWebhookDeps {
  senders: Credentials;
}

export function receiveRoutes(deps: ReceiveDeps): Router {
  const router = new Router({ prefix: '/e' });
  if (deps.config.dev) router.use(openToPages as never);
  router.post('/:key', (ctx) => receive(ctx as unknown as Context & { params: { key: string } }, deps));
  router.all('/:key', (ctx) => {
    ctx.set('allow', 'POST');
    throw new ServiceError('method_not_allowed', { detail: `got ${ctx.method}; events are sent with POST` });
  });
  return router;
}

async function receive(ctx: Context & { params: { key: string } }, deps: ReceiveDeps): Promise<void> {
  const receivedAt = Date.now();
  const startedAt = performance.now();
  const sender = await deps.senders.of(ctx.params.key, receivedAt);
  const { ids, env } =
    sender.kind === 'webhook'
      ? await receiveFromWebhook(ctx, sender.webhook, receivedAt, deps)
      : await receiveFromKey(ctx, sender.key, receivedAt, deps);
  ctx.body = { ids, status: 200 };
  if (env !== undefined) deps.reports.recordAcknowledgement(env, performance.now() - startedAt);
}
