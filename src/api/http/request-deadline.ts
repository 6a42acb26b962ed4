/** Terminates requests whose body does not arrive in time, as Node does with `requestTimeout`; except for streaming requests. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

const DEADLINE_MS = 60_000;
const CHECK_MS = 5_000;
const TIMEOUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

const streams = new WeakSet<IncomingMessage>();

/** Lifts the deadline of a request. Its reader then bounds the time. */
export function mayTakeLonger(request: IncomingMessage): void {
  streams.add(request);
}

/** @param server a server with `requestTimeout: 0` */
export function enforceDeadlines(server: Server): void {
  /** The last request with a body of each connection. */
  const last = new Map<Socket, { request: IncomingMessage; startedAt: number }>();
  server.prependListener('request', (request: IncomingMessage) => {
    const { headers, socket } = request;
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
    if (!last.has(socket)) socket.once('close', () => last.delete(socket));
    last.set(socket, { request, startedAt: performance.now() });
  });
  const check = () => {
    const deadline = performance.now() - DEADLINE_MS;
    for (const [socket, { request, startedAt }] of last) {
      if (startedAt > deadline || request.complete || streams.has(request)) continue;
      socket.end(TIMEOUT, () => socket.destroy());
    }
  };
  const timer = setInterval(check, CHECK_MS).unref();
  server.once('close', () => clearInterval(timer));
}
