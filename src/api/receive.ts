/** `POST /e/:key`: the door that every event comes through (spec 4.1, 4.2).
 *  Authenticate, read, transform (webhooks only), validate, accept, answer; each step answers its own errors and nothing is half done. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import Router from '@koa/router';
import type { Context } from 'koa';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { readHeader } from '../functions/headers.ts';
import type { Acceptor } from '../jobs/accept.ts';
import { PRODUCTION } from '../model/environment.ts';
import { type Event, validateEvents } from '../model/event.ts';
import { parseSeed, type Seed } from '../model/ids.ts';
import { parseExact } from '../model/json.ts';
import type { WebhookDirectory } from '../store/webhook-directory.ts';
import type { Webhook } from '../store/webhooks.ts';
import type { Transforms } from '../transforms/transforms.ts';
import { isJsonType, mediaTypeOf, readBody } from './body.ts';
import type { EventKeys } from './event-keys.ts';
import { environmentSelection } from './selection.ts';
import { toTransformRequest } from './webhook-request.ts';

export interface ReceiveDeps {
  config: Config;
  eventKeys: EventKeys;
  webhooks: WebhookDirectory;
  transforms: Transforms;
  acceptor: Acceptor;
}

export function receiveRoutes(deps: ReceiveDeps): Router {
  const router = new Router({ prefix: '/e' });
  if (deps.config.dev) router.use(openToBrowsers);
  router.post('/:key', (ctx) => receive(ctx as unknown as Context & { params: { key: string } }, deps));
  router.all('/:key', (ctx) => {
    ctx.set('allow', 'POST');
    throw new ServiceError('method_not_allowed', { detail: `got ${ctx.method}; events are sent with POST` });
  });
  return router;
}

async function receive(ctx: Context & { params: { key: string } }, deps: ReceiveDeps): Promise<void> {
  const receivedAt = Date.now();
  const webhook = await authenticate(ctx.params.key, deps);
  checkEnvironment(ctx, deps.config);
  const body = await readBody(ctx.req, deps.config.eventMaxBytes);
  const events = webhook ? await transformed(webhook, body, ctx, deps) : parseEvents(body, ctx.req.headers);
  const ids = await deps.acceptor.accept(events, {
    env: webhook?.env ?? PRODUCTION,
    source: webhook ? `webhook:${webhook.id}` : 'event-key',
    requestId: ctx.state.requestId as string,
    receivedAt,
    seed: webhook ? undefined : seedOf(ctx.req.headers),
  });
  ctx.body = { ids, status: 200 };
}

/** @returns the webhook that the key addresses; undefined: it is an event key. In dev mode every other key is one. */
async function authenticate(key: string, { webhooks, eventKeys, config }: ReceiveDeps): Promise<Webhook | undefined> {
  const webhook = webhooks.find(key);
  if (webhook || eventKeys.has(key)) return webhook;
  const justMade = await webhooks.seek(key);
  if (justMade || config.dev) return justMade;
  throw new ServiceError('key_unknown', {
    detail: 'use an event key of this service, or the URL of one of its webhooks',
  });
}

/** A key sends only to the environment it belongs to (spec 5.3). In dev mode there is only one, whatever a client says. */
function checkEnvironment(ctx: Context, { dev }: Config): void {
  if (dev) return;
  const selected = environmentSelection(ctx);
  if (selected !== undefined && selected !== PRODUCTION) {
    throw new ServiceError('environment_mismatch', {
      detail: `got "${selected}"; this key belongs to "${PRODUCTION}": leave the selection out, or use that environment's own key`,
    });
  }
}

function parseEvents(body: Buffer, headers: IncomingHttpHeaders): Event[] {
  const mediaType = mediaTypeOf(headers['content-type']);
  if (!isJsonType(mediaType)) {
    const got = mediaType ? `"${mediaType}"` : 'none';
    throw new ServiceError('content_type_unsupported', { detail: `got ${got}; events are sent as application/json` });
  }
  if (body.length === 0) {
    throw new ServiceError('body_missing', { detail: 'send one event object or an array of them' });
  }
  const text = textOf(body);
  return validateEvents(parsed(text), text.length);
}

function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw new ServiceError('body_not_json', { detail: 'it is not UTF-8' });
  const text = body.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    throw new ServiceError('body_not_json', { detail: (error as Error).message, cause: error });
  }
}

/** The event a webhook's transform makes of the request; none when it answers null. */
async function transformed(
  webhook: Webhook,
  body: Buffer,
  ctx: Context,
  { transforms }: ReceiveDeps,
): Promise<Event[]> {
  const request = await toTransformRequest(body, ctx.req.headers, ctx.querystring);
  const { id, version, transform: code } = webhook;
  const { event } = await transforms.run({ id, version, code }, request);
  return event === null ? [] : [eventOfTransform(event)];
}

/** @throws ServiceError transform_failed when what the transform returned is no valid event */
export function eventOfTransform(returned: unknown): Event {
  try {
    const [event] = validateEvents(returned, Number.POSITIVE_INFINITY);
    return event as Event;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const detail = error.message.replace(/^.*?: event 0,? ?/, '');
    throw new ServiceError('transform_failed', {
      detail: `it returned an event that is not valid: ${detail}`,
      cause: error,
    });
  }
}

function seedOf(headers: IncomingHttpHeaders): Seed | undefined {
  const header = readHeader(headers, 'event-id-seed');
  if (header === undefined) return undefined;
  const seed = parseSeed(header);
  if (!seed) {
    throw new ServiceError('seed_invalid', {
      detail: 'it takes "<unix milliseconds>,<base64 of 10 bytes>"; leave it out to have IDs made for you',
    });
  }
  return seed;
}

/** Dev mode only: a page under development may send events from anywhere. */
async function openToBrowsers(
  ctx: Pick<Context, 'set' | 'method' | 'status'>,
  next: () => Promise<unknown>,
): Promise<void> {
  ctx.set('access-control-allow-origin', '*');
  if (ctx.method !== 'OPTIONS') return void (await next());
  ctx.set('access-control-allow-methods', 'POST');
  ctx.set('access-control-allow-headers', '*');
  ctx.set('access-control-max-age', '600');
  ctx.status = 204;
}
