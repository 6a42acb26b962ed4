/** Formats of the messages between gateway and apps, one for each subprotocol of the WebSocket. */
import { isShallowJson, MAX_DEPTH } from '../../model/values/json.ts';
import type { Message } from './codec.ts';
import { Frame, KIND } from './messages.ts';

export interface ReceivedFrame {
  kind: number;
  /** @throws Error if its payload is not a message of this kind */
  read<Value>(message: Message<Value>): Value;
}

export interface MessageFormat {
  subprotocol: string;
  contentType: string;
  /** A frame of the WebSocket, binary or text. */
  frame<Value>(kind: number, message?: Message<Value>, value?: Partial<Value>): string | Uint8Array<ArrayBuffer>;
  /** @throws Error if it is not a frame */
  readFrame(data: Buffer, isBinary: boolean): ReceivedFrame;
  /** The body of a request or response. */
  body<Value>(message: Message<Value>, value: Partial<Value>): Buffer;
  /** @throws Error if the text is not a message of this kind */
  readBody<Value>(message: Message<Value>, body: Buffer): Value;
}

/** For the official SDKs. */
export const PROTOBUF: MessageFormat = {
  subprotocol: 'v0.connect.inngest.com',
  contentType: 'application/protobuf',
  frame(kind, message, value = {}) {
    return Frame.encode({ kind, ...(message && { payload: message.encode(value) }) });
  },
  readFrame(data, isBinary) {
    if (!isBinary) throw new Error('a text frame');
    const { kind, payload } = Frame.decode(data);
    return { kind, read: (message) => message.decode(payload) };
  },
  body: (message, value) => Buffer.from(message.encode(value)),
  readBody: (message, body) => message.decode(body),
};

const KIND_NAMES = new Map<number, string>(Object.entries(KIND).map(([name, kind]) => [kind, name]));
const NO_KIND = -1;

/** Text frames `{"kind": "workerReply", "payload": {…}}`, for Tidegate's own clients. */
export const JSON_TEXT: MessageFormat = {
  subprotocol: 'v1.connect.tidegate',
  contentType: 'application/json',
  frame(kind, message, value = {}) {
    return JSON.stringify({ kind: KIND_NAMES.get(kind), ...(message && { payload: message.toJson(value) }) });
  },
  readFrame(data, isBinary) {
    if (isBinary) throw new Error('a binary frame');
    const { kind, payload = {} } = parse(data) as { kind?: unknown; payload?: unknown };
    if (typeof kind !== 'string') throw new Error('a frame without a kind');
    const known = Object.hasOwn(KIND, kind) ? KIND[kind as keyof typeof KIND] : NO_KIND;
    return { kind: known, read: (message) => message.fromJson(payload) };
  },
  body: (message, value) => Buffer.from(JSON.stringify(message.toJson(value))),
  readBody: (message, body) => message.fromJson(parse(body)),
};

/** Frames arrive before their sender has authenticated.
 *  @throws Error if it is no JSON, or nested too deep */
function parse(data: Buffer): unknown {
  const text = data.toString('utf8');
  if (!isShallowJson(text)) throw new Error(`nested deeper than ${MAX_DEPTH} levels`);
  return JSON.parse(text);
}

const FORMATS = [PROTOBUF, JSON_TEXT];

export const SUBPROTOCOLS = FORMATS.map(({ subprotocol }) => subprotocol);

/** @param subprotocol that of the WebSocket; some clients of the first format name none */
export function formatOfSubprotocol(subprotocol: string): MessageFormat {
  return subprotocol === JSON_TEXT.subprotocol ? JSON_TEXT : PROTOBUF;
}

export function formatOfContentType(contentType: string | undefined): MessageFormat {
  return contentType?.startsWith(JSON_TEXT.contentType) ? JSON_TEXT : PROTOBUF;
}
