/** The two kinds of realtime connection: a WebSocket, whose messages are JSON, and server-sent events. */
import { PassThrough, type Readable } from 'node:stream';
import { RESPONSE_TOPIC } from '../../model/realtime/topics.ts';
import type { WebSocket } from '../http/web-sockets.ts';
import type { Receiver } from './subscribers.ts';

/** A connection with more unread data than this is closed. */
const UNREAD_MAX_BYTES = 1_048_576;
const HEARTBEAT_MS = 15_000;
/** A comment line, which clients ignore. */
const HEARTBEAT = ':\n\n';
/** Maximum number of messages that a subscriber may send between two pings; all are ignored. */
const IGNORED_MAX = 60;
const IGNORED_MS = 30_000;

const POLICY_VIOLATION = 1_008;
const GOING_AWAY = 1_001;

/** Buffers messages until the connection is open. */
export class WebSocketReceiver implements Receiver {
  #early: string[] | undefined = [];
  #earlyBytes = 0;
  #socket: WebSocket | undefined;
  #ended = false;

  open(socket: WebSocket): void {
    refuseFlood(socket);
    this.#socket = socket;
    for (const text of this.#early ?? []) this.#send(text);
    this.#early = undefined;
    if (this.#ended) this.end();
  }

  receive(topic: string, text: string): void {
    this.#send(topic === RESPONSE_TOPIC ? responseMessage(text) : text);
  }

  end(): void {
    this.#ended = true;
    this.#socket?.close(GOING_AWAY, 'connect again');
  }

  #send(text: string): void {
    const socket = this.#socket;
    if (!socket) this.#keep(text);
    else if (socket.readyState !== socket.OPEN) return;
    else if (socket.bufferedAmount > UNREAD_MAX_BYTES) socket.terminate();
    else socket.send(text);
  }

  #keep(text: string): void {
    this.#earlyBytes += text.length;
    if (this.#earlyBytes > UNREAD_MAX_BYTES) this.end();
    else this.#early?.push(text);
  }
}

export function eventStreamReceiver(): Receiver & { stream: Readable } {
  const stream = new PassThrough();
  const heartbeat = setInterval(() => write(HEARTBEAT), HEARTBEAT_MS).unref();
  stream.once('close', () => clearInterval(heartbeat));
  const write = (text: string) => {
    if (stream.writableEnded || stream.destroyed) return;
    if (stream.writableLength + stream.readableLength > UNREAD_MAX_BYTES) stream.destroy();
    else stream.write(text);
  };
  write(HEARTBEAT);
  return {
    stream,
    // A function's streamed response already has the format of an event stream.
    receive: (topic, text) => write(topic === RESPONSE_TOPIC ? text : `data: ${text}\n\n`),
    end: () => stream.end(),
  };
}

/** Clients of WebSockets expect only JSON. */
function responseMessage(text: string): string {
  return JSON.stringify({ kind: 'data', topic: RESPONSE_TOPIC, data: text });
}

function refuseFlood(socket: WebSocket): void {
  let count = 0;
  let since = performance.now();
  socket.on('message', () => {
    const now = performance.now();
    if (now - since > IGNORED_MS) [count, since] = [0, now];
    if (++count > IGNORED_MAX) socket.close(POLICY_VIOLATION, 'subscribers send nothing');
  });
}
