/** `POST /v1/realtime/token`: creates a subscription token, for an app to pass on. `GET /v1/realtime/connect` and `…/sse`: subscribe with
 *  it, by WebSocket or with server-sent events. */
import { ServiceError } from '../../errors.ts';
import { ownerOfName } from '../../model/environment.ts';
import type { SubscriptionTokens, VerifiedSubscription } from '../../model/realtime/subscription-token.ts';
import { tokenRequestSchema } from '../../model/realtime/topics.ts';
import { type AppGuardDeps, authenticateApp, confirmEnvironment } from '../apps/app-requests.ts';
import { bearerOf } from '../auth/principals.ts';
import { parseJson, readBody } from '../http/body.ts';
import type { Context, Router } from '../http/router.ts';
import { validate } from '../http/validation.ts';
import type { AcceptWebSocket } from '../http/web-sockets.ts';
import { eventStreamReceiver, WebSocketReceiver } from './receivers.ts';
import type { RealtimeSubscribers } from './subscribers.ts';

const TOKEN_REQUEST_MAX_BYTES = 65_536;

export interface SubscribeDeps extends AppGuardDeps {
  tokens: SubscriptionTokens;
  tokenMs: number;
  subscribers: RealtimeSubscribers;
  acceptWebSocket: AcceptWebSocket;
}

export function subscribeRoutes(router: Router, deps: SubscribeDeps): void {
  const { tokens, tokenMs, subscribers, acceptWebSocket } = deps;

  router.post('/v1/realtime/token', async (ctx) => {
    const env = await authenticateApp(ctx, deps);
    const body = parseJson((await readBody(ctx.req, TOKEN_REQUEST_MAX_BYTES)).toString('utf8'));
    const topics = validate(tokenRequestSchema, body, 'field');
    confirmEnvironment(ctx, env, deps);
    const createdAt = deps.environments.find(env)?.createdAt;
    ctx.body = { jwt: tokens.sign({ env, createdAt, topics }, Date.now() + tokenMs) };
  });

  router.get('/v1/realtime/connect', async (ctx) => {
    const subscription = subscriptionOf(ctx, tokens);
    const receiver = new WebSocketReceiver();
    // The subscription begins before the connection is open, because from then on the client relies on every message.
    const leave = await subscribers.join(subscription, receiver);
    try {
      const socket = await acceptWebSocket(ctx, ownerOfName(deps.environments.find(subscription.env)));
      socket.once('close', leave);
      receiver.open(socket);
    } catch (error) {
      leave();
      throw error;
    }
  });

  router.get('/v1/realtime/sse', async (ctx) => {
    const subscription = subscriptionOf(ctx, tokens);
    const receiver = eventStreamReceiver();
    try {
      receiver.stream.once('close', await subscribers.join(subscription, receiver));
    } catch (error) {
      receiver.stream.destroy();
      throw error;
    }
    ctx.type = 'text/event-stream';
    // The token authorizes the request, whatever its page.
    ctx.set('access-control-allow-origin', '*');
    // Without this header, nginx buffers the messages.
    ctx.set('x-accel-buffering', 'no');
    // A connection kept alive after the stream would delay the shutdown of web.
    ctx.set('connection', 'close');
    ctx.body = receiver.stream;
  });
}

/** @throws ServiceError token_invalid */
function subscriptionOf(ctx: Context, tokens: SubscriptionTokens): VerifiedSubscription {
  const inQuery = ctx.query.token;
  const token = typeof inQuery === 'string' ? inQuery : bearerOf(ctx);
  const subscription = token === undefined ? undefined : tokens.verify(token, Date.now());
  if (subscription) return subscription;
  throw new ServiceError('token_invalid', { detail: 'request a new one with POST /v1/realtime/token' });
}
