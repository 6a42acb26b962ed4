/** Subscribes to realtime messages in a test: with a bare WebSocket, or by server-sent events. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Service } from './service.ts';
import { until } from './until.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Loose = any;

export interface Subscriber {
  socket: WebSocket;
  /** All messages so far. */
  messages: Loose[];
  next(condition: (message: Loose) => unknown): Promise<Loose>;
  /** Waits for the end of the connection, and returns its code. */
  closed: Promise<number>;
}

/** A subscription token for topics of a channel. */
export async function tokenFor(
  service: Service,
  channel: string,
  topics: string[],
  headers = service.appHeaders,
): Promise<string> {
  const body = topics.map((name) => ({ channel, name, kind: 'run' }));
  const { status, body: responseBody } = await service.post('/v1/realtime/token', body, headers);
  if (status !== 200) throw new Error(`no token, but ${status} ${JSON.stringify(responseBody)}`);
  return responseBody.jwt;
}

/** Resolves when the connection is open; rejects with the status of the response if it is refused. */
export async function subscribe(url: string, token: string): Promise<Subscriber> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime/connect?token=${encodeURIComponent(token)}`);
  const messages: Loose[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (request, response) => {
      request.destroy();
      reject(new Error(`status ${response.statusCode}`));
    });
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);
  return {
    socket,
    messages,
    closed,
    next: (condition) =>
      until(() => messages.find(condition), {
        describe: () => `a message as condition; there came ${JSON.stringify(messages.slice(-5))}`,
      }),
  };
}

export interface EventStream {
  response: Response;
  /** Everything received so far. */
  text(): string;
  close(): void;
}

export async function followEvents(url: string, token: string): Promise<EventStream> {
  const end = new AbortController();
  const response = await fetch(`${url}/v1/realtime/sse?token=${encodeURIComponent(token)}`, { signal: end.signal });
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  let text = '';
  const read = async () => {
    for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()))
      text += chunk;
  };
  read().catch(() => undefined);
  return { response, text: () => text, close: () => end.abort() };
}

/** Closes a subscriber, and waits until it is closed. */
export async function close({ socket }: Subscriber): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  socket.close();
  await once(socket, 'close');
}
