/** In tests too, values pass through the middleware that encode and decode; tests read and write them as handlers do. */
import type { IncomingEvent, OutgoingEvent } from './events.ts';
import type { TidegateFunction } from './function-types.ts';
import { type Codec, codecOf } from './middleware/codec.ts';
import { eventPlace, placesOf, type RunPlaces, receivedPlace } from './middleware/places.ts';
import type { Op } from './steps/op.ts';
import { TEST_RUN } from './test-run.ts';
import type { Ending } from './test-stubs.ts';

export interface TestCodec {
  /** The results of steps, as the service would have them. */
  stored(op: Op, ending: Ending): Promise<Ending>;
  /** Decodes a result that a step gave to the service. */
  readableResult(op: Op, ending: Ending): Promise<Ending>;
  readableOutput(output: unknown): Promise<unknown>;
  readableEvents(events: readonly OutgoingEvent[]): Promise<OutgoingEvent[]>;
}

/** Events, as the service would have them. */
export async function storedEvents(fn: TidegateFunction, events: readonly IncomingEvent[]): Promise<IncomingEvent[]> {
  const codec = codecOf(fn.middleware);
  return codec ? Promise.all(events.map((event) => storedEvent(event, codec))) : [...events];
}

/** @param event that triggers the run */
export function testCodec(fn: TidegateFunction, event: IncomingEvent): TestCodec {
  const codec = codecOf(fn.middleware);
  if (!codec)
    return {
      stored: async (_, ending) => ending,
      readableResult: async (_, ending) => ending,
      readableOutput: async (output) => output,
      readableEvents: async (events) => [...events],
    };
  const places = placesOf(fn, { runId: TEST_RUN, rerunOf: [], event });
  const { decode } = codec;
  return {
    async stored(op, ending) {
      return 'data' in ending ? { data: await storedData(op, ending.data, codec, places) } : ending;
    },
    async readableResult({ id }, ending) {
      if (!('data' in ending) || ending.data === undefined) return ending;
      return { data: await decode(ending.data, 'step', [places.step(id)]) };
    },
    readableOutput: (output) => decode(output, 'output', [places.output]),
    readableEvents: (events) =>
      Promise.all(
        events.map(async (sent) => ({
          ...sent,
          data: (await decode(sent.data, 'event', [eventPlace(sent.name)])) as OutgoingEvent['data'],
        })),
      ),
  };
}

async function storedEvent<E extends OutgoingEvent>(
  event: E,
  { encode }: Codec,
  name: string = event.name,
): Promise<E> {
  return { ...event, data: (await encode(event.data, 'event', receivedPlace(name, event.data))) as E['data'] };
}

/** Encodes a stub as the service would store it. Values that the service itself makes are not encoded. */
async function storedData({ op, id, name, opts = {} }: Op, data: unknown, codec: Codec, places: RunPlaces) {
  if (op === 'WaitForEvent') return data === null ? null : storedEvent(data as IncomingEvent, codec, name);
  if (op === 'StepPlanned') return codec.encode(data, 'step', places.step(id));
  const [place] = places.results({ kind: 'invoke', hashedId: id, opts }) ?? [];
  return op === 'InvokeFunction' && place ? codec.encode(data, 'output', place) : data;
}
