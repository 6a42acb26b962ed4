/** `POST /v1/realtime/publish`: publishes data, or a stream of chunks, to the subscribers of a channel's topics. `…/publish/tee`:
 *  publishes a function's response while it is streamed. */

import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { keyFingerprint } from '../../functions/signing.ts';
import { ID_PATTERN, newId } from '../../model/ids.ts';
import {
  chunkMessage,
  dataJson,
  dataMessage,
  type MessageSource,
  streamMessage,
} from '../../model/realtime/message.ts';
import { nameSchema, RESPONSE_TOPIC } from '../../model/realtime/topics.ts';
import type { RealtimePublisher } from '../../store/realtime/channels.ts';
import { type AppGuardDeps, authenticateApp, confirmEnvironment } from '../apps/app-requests.ts';
import { ConnectionKeys } from '../connect/connection-keys.ts';
import { mediaTypeOf, readBody, rejectEncoding } from '../http/body.ts';
import { mayTakeLonger } from '../http/request-deadline.ts';
import type { Context, Router } from '../http/router.ts';
import { ownParameters, validate } from '../http/validation.ts';
import type { PublishLimits } from './publish-limits.ts';

const STREAM_TYPE = 'text/stream';
const TOPICS_MAX = 10;
/** A stream silent for this long has ended. */
const SILENCE_MS = 300_000;
/** Interval at which the signing key of a stream is checked. */
const KEY_CHECK_MS = 5_000;

const topicsSchema = z
  .union([nameSchema, z.array(nameSchema).min(1).max(TOPICS_MAX)])
  .transform((topics) => (typeof topics === 'string' ? [topics] : [...new Set(topics)]));
const querySchema = z.object({
  channel: nameSchema,
  topic: topicsSchema,
  run_id: z.string().regex(ID_PATTERN, 'the ID of a run').optional(),
});
const teeQuerySchema = z.object({ channel: nameSchema });

export interface PublishDeps extends AppGuardDeps {
  publisher: RealtimePublisher;
  limits: PublishLimits;
  messageBytes: number;
}

export function publishRoutes(router: Router, deps: PublishDeps): void {
  const { publisher, limits, messageBytes } = deps;

  router.post('/v1/realtime/publish', async (ctx) => {
    const env = await authenticateApp(ctx, deps);
    const { channel, topic: topics, run_id: runId } = parametersOf(ctx, querySchema);
    const sources = topics.map((topic): MessageSource => ({ channel, topic, runId }));
    if (mediaTypeOf(ctx.get('content-type')) === STREAM_TYPE) await publishStream(ctx, env, sources, deps);
    else {
      const json = dataJson((await readMessage(ctx.req, messageBytes)).toString('utf8'));
      confirmEnvironment(ctx, env, deps);
      limits.admit(env, json.length, topics.length);
      const now = Date.now();
      await Promise.all(
        sources.map((source) => publisher.publish(env, channel, source.topic, dataMessage(source, json, now))),
      );
    }
    ctx.body = {};
  });

  router.post('/v1/realtime/publish/tee', async (ctx) => {
    const env = await authenticateApp(ctx, deps);
    const { channel } = parametersOf(ctx, teeQuerySchema);
    await readStream(ctx, env, deps, (text) => publisher.publish(env, channel, RESPONSE_TOPIC, text));
    ctx.body = {};
  });
}

/** Subscribers see the end of the stream even if its publisher dies. */
async function publishStream(ctx: Context, env: string, sources: MessageSource[], deps: PublishDeps): Promise<void> {
  const streamId = newId();
  const send = (textFor: (source: MessageSource) => string) =>
    Promise.all(
      sources.map((source) => deps.publisher.publish(env, source.channel, source.topic, textFor(source))),
    ).then(() => undefined);
  deps.limits.admit(env, 0, sources.length);
  await send((source) => streamMessage('datastream-start', source, streamId, Date.now()));
  try {
    await readStream(ctx, env, deps, (text) => send((source) => chunkMessage(source, streamId, text)));
  } finally {
    await send((source) => streamMessage('datastream-end', source, streamId, Date.now())).catch(() => undefined);
  }
}

/** Reads only as fast as the environment may publish and Redis accepts.
 *  @throws ServiceError overloaded, body_invalid, content_encoding_unsupported, environment_changed, credentials_invalid */
async function readStream(
  ctx: Context,
  env: string,
  deps: PublishDeps,
  onText: (text: string) => Promise<void>,
): Promise<void> {
  const { req: request } = ctx;
  const { limits } = deps;
  rejectEncoding(request);
  const end = limits.openStream(env);
  mayTakeLonger(request);
  request.setTimeout(SILENCE_MS, () => request.destroy());
  const decoder = new TextDecoder();
  const key = watchKey(ctx, env, deps);
  const publish = async (text: string) => {
    if (text === '' || key.isLost()) return;
    for (let ms = limits.waitMs(env, text.length); ms > 0; ms = limits.waitMs(env, text.length)) await wait(ms);
    confirmEnvironment(ctx, env, deps);
    await onText(text);
  };
  const read = async () => {
    for await (const chunk of request) await publish(decoder.decode(chunk, { stream: true }));
    await publish(decoder.decode());
  };
  try {
    await Promise.race([read(), key.lost]);
  } catch (error) {
    if (error instanceof Error && request.destroyed && !request.complete) {
      throw new ServiceError('body_invalid', { detail: 'the stream broke off', cause: error });
    }
    throw error;
  } finally {
    request.setTimeout(0);
    key.stop();
    end();
  }
}

/** A stream may last as long as its app runs, so it ends once the key that opened it is neither the current nor the previous key.
 *  @returns `lost` rejects with ServiceError credentials_invalid */
function watchKey(ctx: Context, env: string, deps: PublishDeps) {
  const keys = new ConnectionKeys(deps);
  const { signingKey } = ctx.state.proven ?? {};
  const fingerprint = signingKey === undefined ? undefined : keyFingerprint(signingKey);
  const lost = Promise.withResolvers<never>();
  let isLost = false;
  const check = async () => {
    // Keeps the stream while Redis is down.
    if (await keys.isValid(env, fingerprint).catch(() => true)) return;
    isLost = true;
    // The rest of the body is not read.
    ctx.set('connection', 'close');
    lost.reject(
      new ServiceError('credentials_invalid', { detail: 'the signing key was rotated; publish with the new one' }),
    );
  };
  const timer = setInterval(() => void check(), KEY_CHECK_MS).unref();
  return { lost: lost.promise, isLost: () => isLost, stop: () => clearInterval(timer) };
}

/** @throws ServiceError body_too_large, body_invalid, content_encoding_unsupported */
async function readMessage(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  try {
    return await readBody(request, limitBytes);
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'body_too_large')) throw error;
    throw new ServiceError('body_too_large', {
      detail: `the limit of a realtime message is ${limitBytes} bytes (REALTIME_MESSAGE_MAX_BYTES); publish larger data as a stream`,
      facts: { limit_bytes: limitBytes },
    });
  }
}

function parametersOf<S extends z.ZodType>(ctx: Context, schema: S): z.output<S> {
  return validate(schema, ownParameters(ctx.query), 'query parameter');
}
