/** Encodes values on their way to the service, and decodes what comes back, with all middleware of a list. */
import type { Call } from '../call.ts';
import type { IncomingEvent } from '../events.ts';
import { asJson } from '../json.ts';
import type { FoundStep } from '../steps/found.ts';
import type { Memo } from '../steps/memo.ts';
import type { Op } from '../steps/op.ts';
import { outputPlace, type RunPlaces, receivedPlace } from './places.ts';
import type { AnyMiddleware, Place, ValueKind } from './types.ts';

export interface Codec {
  /** undefined becomes null, as JSON has it.
   *  @throws TypeError if JSON cannot represent the value; whatever a middleware throws */
  encode(value: unknown, kind: ValueKind, place: Place): Promise<unknown>;
  decode(value: unknown, kind: ValueKind, places: readonly Place[] | undefined): Promise<unknown>;
}

/** undefined: no middleware encodes or decodes. */
export function codecOf(list: readonly AnyMiddleware[]): Codec | undefined {
  if (!list.some(({ encode, decode }) => encode || decode)) return undefined;
  return {
    async encode(value, kind, place) {
      let encoded = asJson(value);
      for (const one of list.toReversed()) if (one.encode) encoded = await one.encode(encoded, kind, place);
      return encoded;
    },
    async decode(value, kind, places) {
      let decoded = value;
      for (const one of list) if (one.decode) decoded = await one.decode(decoded, kind, places);
      return decoded;
    },
  };
}

/** The call with the data of its events decoded. */
export async function decodeCall(call: Call, codec: Codec): Promise<Call> {
  const events = await Promise.all(call.events.map((event) => decodeEvent(event, codec)));
  return { ...call, events, event: events[0] ?? (await decodeEvent(call.event, codec)) };
}

/** The service's own events that report the end or the pause of a run. They contain the run's events and output as stored. */
const ENDS_AND_PAUSES = [
  'inngest/function.failed',
  'inngest/function.finished',
  'inngest/function.cancelled',
  'tidegate/run.paused',
];

async function decodeEvent(event: IncomingEvent, codec: Codec): Promise<IncomingEvent> {
  const { name, data } = event;
  const decoded = (await codec.decode(data, 'event', [receivedPlace(name, data)])) as IncomingEvent['data'];
  const isAboutRun = ENDS_AND_PAUSES.includes(name) && typeof decoded === 'object' && decoded !== null;
  return { ...event, data: isAboutRun ? await decodeEnd(decoded, codec) : decoded };
}

async function decodeEnd(data: IncomingEvent['data'], codec: Codec): Promise<IncomingEvent['data']> {
  const inner = async (one: unknown) => (isEvent(one) ? decodeEvent(one, codec) : one);
  const { event, events, function_id: functionId, run_id: runId } = data;
  const place = outputPlace(String(functionId), String(runId), isEvent(event) ? event : {});
  return {
    ...data,
    ...(event !== undefined && { event: await inner(event) }),
    ...(Array.isArray(events) && { events: await Promise.all(events.map(inner)) }),
    // The result of a failed run is its error, which is not encoded.
    ...(data.result !== undefined && !data.error && { result: await codec.decode(data.result, 'output', [place]) }),
  };
}

function isEvent(value: unknown): value is IncomingEvent {
  return typeof value === 'object' && value !== null && 'name' in value && 'data' in value;
}

/** The memo of a step, decoded: the event of a wait, the output of an invoked function, or the result. Errors are not encoded. */
export async function decodeMemo(step: FoundStep, memo: Memo, codec: Codec, places: RunPlaces): Promise<Memo> {
  const { kind, name } = step;
  if (memo === null || kind === 'sleep') return memo;
  // The event that the step waits for, whatever the memo says.
  if (kind === 'wait' && 'name' in memo) return decodeAwaited({ ...memo, name }, codec);
  if (!('data' in memo)) return memo;
  return { ...memo, data: await codec.decode(memo.data, kind === 'invoke' ? 'output' : 'step', places.results(step)) };
}

async function decodeAwaited(event: Record<string, unknown>, codec: Codec): Promise<Memo> {
  return { ...(await decodeEvent(event as unknown as IncomingEvent, codec)) };
}

/** A new invocation with its data encoded. */
export async function encodeInvocation(op: Op, { encode }: Codec, places: RunPlaces): Promise<Op> {
  if (op.op !== 'InvokeFunction') return op;
  const { payload, ...opts } = op.opts as { function_id: string; payload: { data: unknown } };
  const place = places.invocation(opts.function_id, op.id);
  return { ...op, opts: { ...opts, payload: { ...payload, data: await encode(payload.data, 'event', place) } } };
}
