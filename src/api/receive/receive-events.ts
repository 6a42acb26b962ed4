/** Events sent with an event key. All events of a request are accepted, or none (docs/events.md#request-life-cycle). */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../errors.ts';
import { readHeader } from '../../functions/headers.ts';
import type { Acceptor } from '../../jobs/acceptance/acceptor.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import { isStored } from '../../model/auth/event-key.ts';
import { isSameEnvironment } from '../../model/environment.ts';
import type { Event } from '../../model/events/event.ts';
import { rejectFarFuture, validateEvents } from '../../model/events/sent-event.ts';
import { parseSeed, type Seed } from '../../model/ids.ts';
import { parseExact } from '../../model/values/json.ts';
import type { EventKeyInUse } from '../../store/auth/event-keys.ts';
import type { Store } from '../../store/store.ts';
import { environmentChanged } from '../auth/proven-environment.ts';
import { describeType, isJsonType, mediaTypeOf, readBody } from '../http/body.ts';
import { environmentSelection } from '../http/environment-selection.ts';
import { clientAddress } from '../http/incoming-request.ts';
import type { Context } from '../http/router.ts';
import { ANY_KEY, keyUnknown, rejectDeniedAddress, rejectDeniedNames } from './credentials.ts';
import { environmentOfKey, environmentOfUnknownKey, type Received } from './resolve-environment.ts';

export interface ReceiveEventsDeps extends Pick<Store, 'eventLimits' | 'environments' | 'eventKeys'> {
  eventMaxFutureMs: number;
  acceptor: Acceptor;
  telemetry: Telemetry;
  backpressure: Backpressure;
}

/** @returns the internal IDs, in the order of the events */
export async function receiveEvents(
  ctx: Context,
  key: EventKeyInUse,
  receivedAt: number,
  deps: ReceiveEventsDeps,
): Promise<Received> {
  const { environments, eventKeys, acceptor, backpressure, telemetry } = deps;
  rejectDeniedAddress(key.allowList, clientAddress(ctx));
  backpressure.admit();
  eventKeys.recordUse(key, receivedAt);
  const selection = environmentSelection(ctx);
  const env = await (key === ANY_KEY
    ? environmentOfUnknownKey(selection, environments)
    : environmentOfKey(key.env, selection, environments));
  const environment = environments.find(env);
  const limit = deps.eventLimits.ofKey(key, env);
  const body = await readBody(ctx.req, limit.bytes, limit.remedy);
  if (!isSameEnvironment(environment, environments.find(env))) throw environmentChanged();
  // The key may have been deleted while the body arrived.
  if (isStored(key) && !eventKeys.find(key.digest)) throw keyUnknown();
  telemetry.recordReceived(body.length);
  const events = parseEvents(body, ctx.req.headers);
  rejectFarFuture(events, receivedAt, deps.eventMaxFutureMs);
  rejectDeniedNames(key.allowList, events);
  const ids = await acceptor.accept(events, {
    env,
    source: isStored(key) ? `event-key:${key.id}` : 'event-key',
    requestId: ctx.state.requestId,
    receivedAt,
    seed: seedOf(ctx.req.headers),
  });
  return { ids, env };
}

/** Events are JSON whatever the content type: `curl -d` announces a form, other senders send none. */
function parseEvents(body: Buffer, headers: IncomingHttpHeaders): Event[] {
  if (body.length === 0) {
    throw new ServiceError('body_missing', { detail: 'send one event object or an array of them' });
  }
  const text = textOf(body);
  return validateEvents(parsed(text, mediaTypeOf(headers['content-type'])), text);
}

function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw new ServiceError('body_not_json', { detail: 'it is not UTF-8' });
  const text = body.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function parsed(text: string, mediaType: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    const hint = isJsonType(mediaType) ? '' : `; the content type is ${describeType(mediaType)}, and events are JSON`;
    throw new ServiceError('body_not_json', { detail: `${(error as Error).message}${hint}`, cause: error });
  }
}

function seedOf(headers: IncomingHttpHeaders): Seed | undefined {
  const header = readHeader(headers, 'event-id-seed');
  if (header === undefined) return undefined;
  const seed = parseSeed(header);
  if (!seed) {
    throw new ServiceError('seed_invalid', {
      detail: 'expected "<unix milliseconds>,<base64 of 10 bytes>"; without the header the service generates IDs',
    });
  }
  return seed;
}
