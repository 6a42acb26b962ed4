/** Runs the hooks of a list of middleware around the code that they wrap. */
import type { OutgoingEvent, SendResult } from '../events.ts';
import { refuseUnknown } from '../options.ts';
import { type Codec, codecOf } from './codec.ts';
import { eventPlace } from './places.ts';
import type { AnyMiddleware, MiddlewareRun, MiddlewareSend, MiddlewareStep } from './types.ts';

const HOOKS = ['onRun', 'onStep', 'onSend'];

/** @param what start of the message
 *  @throws TypeError for a list with anything else, or a misspelled hook */
export function checkMiddleware(what: string, list: readonly AnyMiddleware[] = []): readonly AnyMiddleware[] {
  if (!Array.isArray(list)) throw new TypeError(`${what}: middleware must be a list, got ${typeof list}`);
  for (const one of list as unknown[]) {
    if (typeof one !== 'object' || one === null || typeof (one as AnyMiddleware).name !== 'string') {
      throw new TypeError(`${what}: a middleware is an object with a name; got ${String(one)}`);
    }
    const hooks = Object.fromEntries(Object.entries(one).filter(([key]) => key.startsWith('on')));
    refuseUnknown(`The middleware "${(one as AnyMiddleware).name}"`, hooks, HOOKS);
  }
  return list;
}

export function aroundRun(
  list: readonly AnyMiddleware[],
  call: MiddlewareRun,
  handler: () => unknown,
): Promise<unknown> {
  return list.reduceRight<() => Promise<unknown>>(
    (next, one) => (one.onRun ? async () => one.onRun?.(call, once(one, next)) : next),
    async () => handler(),
  )();
}

export function aroundStep(list: readonly AnyMiddleware[], step: MiddlewareStep, run: () => unknown): Promise<unknown> {
  return list.reduceRight<() => Promise<unknown>>(
    (next, one) => (one.onStep ? async () => one.onStep?.(step, next) : next),
    async () => run(),
  )();
}

/** Encodes the events after all hooks. */
export async function aroundSend(
  list: readonly AnyMiddleware[],
  send: MiddlewareSend,
  post: (events: OutgoingEvent[]) => Promise<SendResult>,
): Promise<SendResult> {
  const codec = codecOf(list);
  return list.reduceRight<() => Promise<SendResult>>(
    (next, one) => (one.onSend ? async () => (await one.onSend?.(send, next)) as SendResult : next),
    async () => post(codec ? await encodeEvents(send.events, codec) : send.events),
  )();
}

function encodeEvents(events: readonly OutgoingEvent[], { encode }: Codec): Promise<OutgoingEvent[]> {
  return Promise.all(
    events.map(async (event) => ({
      ...event,
      data: (await encode(event.data, 'event', eventPlace(event.name))) as OutgoingEvent['data'],
    })),
  );
}

/** A second call of the handler would number its steps again from the first. */
function once(of: AnyMiddleware, next: () => Promise<unknown>): () => Promise<unknown> {
  let called = false;
  return async () => {
    if (called) throw new TypeError(`The middleware "${of.name}" called next() of a run twice`);
    called = true;
    return next();
  };
}
