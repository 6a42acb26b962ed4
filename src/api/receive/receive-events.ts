/** Events sent with an event key (spec 4.1): all of a request are accepted, or none. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { readHeader } from '../../functions/headers.ts';
import type { Acceptor } from '../../jobs/ingestion/acceptor.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import { isStored } from '../../model/auth/event-key.ts';
import { type Event, rejectFarFuture, validateEvents } from '../../model/events/event.ts';
import { parseSeed, type Seed } from '../../model/ids.ts';
import { parseExact } from '../../model/values/json.ts';
import type { EventKeyInUse, EventKeys } from '../../store/auth/event-keys.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { InstallationLimits } from '../../store/environments/installation-limits.ts';
import { describeType, isJsonType, mediaTypeOf, readBody } from '../http/body.ts';
import { clientAddress } from '../http/client-address.ts';
import { environmentSelection } from '../http/environment-selection.ts';
import { refuseAddress, refuseNames } from './allow-list.ts';
import { ANY_KEY } from './credentials.ts';
import { environmentOf, type Received, selectedEnvironment } from './resolve-environment.ts';

export interface FromKeyDeps {
  config: Config;
  account: InstallationLimits;
  environments: Environments;
  eventKeys: EventKeys;
  acceptor: Acceptor;
  reports: Telemetry;
  pressure: Backpressure;
}

/** @returns the internal IDs of the events, in their order */
export async function receiveFromKey(
  ctx: Context,
  key: EventKeyInUse,
  receivedAt: number,
  { config, account, environments, eventKeys, acceptor, pressure, reports }: FromKeyDeps,
): Promise<Received> {
  refuseAddress(key.gate, clientAddress(ctx));
  pressure.admit();
  eventKeys.noteUse(key, receivedAt);
  const selection = environmentSelection(ctx);
  const env = await (key === ANY_KEY
    ? selectedEnvironment(selection, environments)
    : environmentOf(key.env, selection, environments));
  const limitBytes = key.maxBytes ?? account.limits.eventMaxBytes ?? config.eventMaxBytes;
  const body = await readBody(ctx.req, limitBytes);
  reports.received(body.length);
  const events = parseEvents(body, ctx.req.headers);
  rejectFarFuture(events, receivedAt, config.eventMaxFutureMs);
  refuseNames(key.gate, events);
  const ids = await acceptor.accept(events, {
    env,
    source: isStored(key) ? `event-key:${key.id}` : 'event-key',
    requestId: ctx.state.requestId as string,
    receivedAt,
    seed: seedOf(ctx.req.headers),
  });
  return { ids, env };
}

function parseEvents(body: Buffer, headers: IncomingHttpHeaders): Event[] {
  const mediaType = mediaTypeOf(headers['content-type']);
  if (!isJsonType(mediaType)) {
    throw new ServiceError('content_type_unsupported', {
      detail: `got ${describeType(mediaType)}; events are sent as application/json`,
    });
  }
  if (body.length === 0) {
    throw new ServiceError('body_missing', { detail: 'send one event object or an array of them' });
  }
  const text = textOf(body);
  return validateEvents(parsed(text), text);
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
