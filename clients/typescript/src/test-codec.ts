/** In tests too, values pass through the middleware that encode and decode; tests read and write them as handlers do. */
import type { IncomingEvent, OutgoingEvent } from './events.ts';
import { type Codec, codecOf } from './middleware/codec.ts';
import type { AnyMiddleware } from './middleware/types.ts';
import type { Op } from './steps/op.ts';
import type { Ending } from './test-stubs.ts';

export interface TestCodec {
  /** Events, and the results of steps, as the service would have them. */
  storedEvents(events: readonly IncomingEvent[]): Promise<IncomingEvent[]>;
  stored(op: Op, ending: Ending): Promise<Ending>;
  /** What the handler or a step gave to the service, as it was. */
  readable(ending: Ending, kind: 'step' | 'output'): Promise<Ending>;
  readableEvents(events: readonly OutgoingEvent[]): Promise<OutgoingEvent[]>;
}

export function testCodec(middleware: readonly AnyMiddleware[]): TestCodec {
  const codec = codecOf(middleware);
  const same = async <T>(value: T) => value;
  if (!codec)
    return {
      storedEvents: async (events) => [...events],
      stored: async (_, ending) => ending,
      readable: same,
      readableEvents: async (events) => [...events],
    };
  const { encode, decode } = codec;
  return {
    storedEvents: (events) => withData(events, encode),
    readableEvents: (events) => withData(events, decode),
    async stored(op, ending) {
      return 'data' in ending ? { data: await storedData(op, ending.data, codec) } : ending;
    },
    async readable(ending, kind) {
      return 'data' in ending && ending.data !== undefined ? { data: await decode(ending.data, kind) } : ending;
    },
  };
}

function withData<E extends OutgoingEvent>(events: readonly E[], change: Codec['encode']): Promise<E[]> {
  return Promise.all(
    events.map(async (event) => ({ ...event, data: (await change(event.data, 'event')) as E['data'] })),
  );
}

async function storedData({ op }: Op, data: unknown, { encode }: Codec): Promise<unknown> {
  if (op === 'Sleep' || ((op === 'WaitForEvent' || op === 'WaitForSignal') && data === null)) return data;
  if (op === 'InvokeFunction') return encode(data, 'output');
  if (op !== 'WaitForEvent') return encode(data, 'step');
  const event = data as IncomingEvent;
  return { ...event, data: await encode(event.data, 'event') };
}
