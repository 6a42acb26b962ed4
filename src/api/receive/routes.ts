/** `POST /e/:key`: receives events and webhook requests. Steps: authenticate the key, resolve the environment, read the body, run the
 *  transform (webhooks only), validate, accept, respond. A failing step rejects the whole request. */
import { ServiceError } from '../../errors.ts';
import { timeOf } from '../../model/ids.ts';
import { allowCrossOrigin, crossOriginHeaders } from '../auth/dev-mode-access.ts';
import { type Context, Router } from '../http/router.ts';
import type { Credentials } from './credentials.ts';
import type { FastRoute } from './fast-path.ts';
import { type ReceiveEventsDeps, receiveEvents } from './receive-events.ts';
import { type ReceiveWebhookDeps, receiveWebhook } from './receive-webhook.ts';
import type { Received } from './resolve-environment.ts';
import { respond } from './respond.ts';

export interface ReceiveDeps extends ReceiveEventsDeps, ReceiveWebhookDeps {
  dev: boolean;
  credentials: Credentials;
}

export function receiveRoutes(deps: ReceiveDeps): Router {
  const router = new Router({ prefix: '/e' });
  const crossOrigin = deps.dev ? [allowCrossOrigin] : [];
  router.post('/:key', ...crossOrigin, async (ctx) => {
    respond(ctx, deps.publicUrl, await receive(ctx, ctx.params.key, deps));
  });
  router.on('all', '/:key', ...crossOrigin, async (ctx) => {
    if (await isWebhook(ctx.params.key, deps)) {
      // Some providers, such as Intercom, check with HEAD that the URL exists before they accept it.
      if (ctx.method === 'HEAD') return respond(ctx, deps.publicUrl, { ids: [], env: undefined });
      return respond(ctx, deps.publicUrl, await receive(ctx, ctx.params.key, deps));
    }
    ctx.set('allow', 'POST');
    throw new ServiceError('method_not_allowed', { detail: `got ${ctx.method}; send events with POST` });
  });
  return router;
}

export function fastEventRoute(deps: ReceiveDeps): FastRoute {
  return {
    path: /^\/e\/([\w-]{1,1024})(?:\?|$)/,
    route: '/e/:key',
    async respond(ctx, key) {
      if (!deps.dev) return respond(ctx, deps.publicUrl, await receive(ctx, key, deps));
      const crossOrigin = crossOriginHeaders(ctx);
      try {
        respond(ctx, deps.publicUrl, await receive(ctx, key, deps), crossOrigin);
      } catch (thrown) {
        ctx.set(crossOrigin);
        throw thrown;
      }
    },
  };
}

/** Only webhooks may accept other methods. */
async function isWebhook(key: string, { credentials }: ReceiveDeps): Promise<boolean> {
  try {
    return (await credentials.of(key, Date.now())).kind === 'webhook';
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'key_unknown') return false;
    throw error;
  }
}

export async function receive(ctx: Context, key: string, deps: ReceiveDeps): Promise<Received> {
  // Webhook logs are sorted and filtered by this time.
  const receivedAt = timeOf(ctx.state.requestId);
  const startedAt = performance.now();
  const credential = await deps.credentials.of(key, receivedAt);
  const received =
    credential.kind === 'webhook'
      ? await receiveWebhook(ctx, credential.webhook, receivedAt, deps)
      : await receiveEvents(ctx, credential.key, receivedAt, deps);
  const { env } = received;
  if (env !== undefined) deps.telemetry.recordAcknowledgement(env, performance.now() - startedAt);
  return received;
}
