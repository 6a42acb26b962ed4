/** Encodes values on their way to the service, and decodes what comes back, with all middleware of a list. */
import type { Call } from '../call.ts';
import type { IncomingEvent } from '../events.ts';
import { asJson } from '../json.ts';
import type { FoundStep } from '../steps/found.ts';
import type { Memo } from '../steps/memo.ts';
import type { Op } from '../steps/op.ts';
import type { AnyMiddleware, ValueKind } from './types.ts';

export interface Codec {
  /** undefined stays undefined.
   *  @throws TypeError if JSON cannot represent the value; whatever a middleware throws */
  encode(value: unknown, kind: ValueKind): Promise<unknown>;
  decode(value: unknown, kind: ValueKind): Promise<unknown>;
}

/** undefined: no middleware encodes or decodes. */
export function codecOf(list: readonly AnyMiddleware[]): Codec | undefined {
  if (!list.some(({ encode, decode }) => encode || decode)) return undefined;
  return {
    async encode(value, kind) {
      if (value === undefined) return undefined;
      let encoded = asJson(value);
      for (const one of list.toReversed()) if (one.encode) encoded = await one.encode(encoded, kind);
      return encoded;
    },
    async decode(value, kind) {
      let decoded = value;
      for (const one of list) if (one.decode) decoded = await one.decode(decoded, kind);
      return decoded;
    },
  };
}

/** The call with the data of its events decoded. */
export async function decodeCall(call: Call, codec: Codec): Promise<Call> {
  const events = await Promise.all(call.events.map((event) => decodeEvent(event, codec)));
  return { ...call, events, event: events[0] ?? (await decodeEvent(call.event, codec)) };
}

/** Also the run's event and output in the data of the service's own events, which are as they were stored. */
async function decodeEvent(event: IncomingEvent, codec: Codec): Promise<IncomingEvent> {
  const data = (await codec.decode(event.data, 'event')) as IncomingEvent['data'];
  if (!event.name?.startsWith('inngest/function.') || typeof data !== 'object' || data === null)
    return { ...event, data };
  const inner = async (one: unknown) => (isEvent(one) ? { ...one, data: await codec.decode(one.data, 'event') } : one);
  return {
    ...event,
    data: {
      ...data,
      ...(data.event !== undefined && { event: await inner(data.event) }),
      ...(Array.isArray(data.events) && { events: await Promise.all(data.events.map(inner)) }),
      ...(data.result !== undefined && { result: await codec.decode(data.result, 'output') }),
    },
  };
}

function isEvent(value: unknown): value is IncomingEvent {
  return typeof value === 'object' && value !== null && 'name' in value && 'data' in value;
}

/** The memo of a step, decoded: the event of a wait, the output of an invoked function, or the result. Errors are not encoded. */
export async function decodeMemo({ kind }: FoundStep, memo: Memo, { decode }: Codec): Promise<Memo> {
  if (memo === null || kind === 'sleep') return memo;
  if (kind === 'wait' && 'name' in memo) return { ...memo, data: await decode(memo.data, 'event') };
  if (!('data' in memo)) return memo;
  return { ...memo, data: await decode(memo.data, kind === 'invoke' ? 'output' : 'step') };
}

/** A new invocation with its data encoded. */
export async function encodeInvocation(op: Op, { encode }: Codec): Promise<Op> {
  if (op.op !== 'InvokeFunction') return op;
  const { payload, ...opts } = op.opts as { payload: { data: unknown } };
  return { ...op, opts: { ...opts, payload: { ...payload, data: await encode(payload.data, 'event') } } };
}
