/** Ending an HTTP server in order, so that nobody who sends at that moment sees a connection break:
 *
 *  1. For a moment all goes on as it was, but every answer is the last on its connection, and /readyz says that this process ends. A load
 *     balancer sends new requests elsewhere, and a client opens its next connection.
 *  2. Nothing more is accepted. Requests that have come are answered, and connections without one are closed as they fall idle.
 *  3. What is still open after the grace is broken off. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Browsers and pools open connections ahead of their first request, which Node does not count as idle: such a request may be on its
 *  way, but not for ever. */
const FIRST_REQUEST_MS = 1_000;
const IDLE_CHECK_MS = 50;

export interface GracefulShutdownOptions {
  /** How long 1 takes. */
  drainMs: number;
  /** From the beginning of 1 to 3. */
  graceMs: number;
  /** Ends answers that have no end of their own. Called once nothing more is accepted: who then connects again comes to another process. */
  endStreams(): void;
}

/** @param server before it listens
 *  @returns what ends it; resolves when every connection is closed */
export function gracefulShutdown(
  server: Server,
  { drainMs, graceMs, endStreams }: GracefulShutdownOptions,
): () => Promise<void> {
  /** Each open connection, with the last answer on it; undefined before the first. */
  const connections = new Map<Socket, ServerResponse | undefined>();
  let isEnding = false;
  server.on('connection', (socket) => {
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
  });
  // Before the application, which might answer at once.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    connections.set(socket, response);
    if (isEnding) response.shouldKeepAlive = false;
  });

  return async () => {
    isEnding = true;
    for (const response of connections.values())
      if (response && !response.headersSent) response.shouldKeepAlive = false;
    await wait(drainMs);
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    endStreams();
    const timers = [
      setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS),
      setTimeout(() => {
        for (const [socket, response] of connections) if (!response) socket.destroy();
      }, FIRST_REQUEST_MS),
      setTimeout(() => server.closeAllConnections(), Math.max(0, graceMs - drainMs)),
    ];
    await closed.promise;
    for (const timer of timers) clearTimeout(timer);
  };
}
