/** Graceful shutdown of an HTTP server: no client sees a broken connection.
 *
 *  1. Drain: the server accepts requests as before, but each response closes its connection, and /readyz answers 503.
 *     Load balancers send new requests elsewhere, and clients open new connections.
 *  2. The server stops listening. It answers the requests it has, and closes connections as they become idle.
 *  3. After the grace period it closes the connections that are still open.
 *
 *  Where another process has taken over the port, it stops listening first: that process gets the new connections. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Browsers and pools open connections before their first request, and Node does not count these as idle: the request
 *  may be in transit, but not forever. */
const FIRST_REQUEST_MS = 1_000;
const IDLE_CHECK_MS = 50;

export interface GracefulShutdownOptions {
  /** Duration of step 1. */
  drainMs: number;
  /** Time from the start of step 1 to step 3. */
  graceMs: number;
  /** Ends responses and WebSockets that have no end of their own. Called once the server no longer listens, so that clients reconnect
   *  to another process. */
  endStreams(): void;
}

/** @param server before it listens
 *  @returns a function that shuts it down, and resolves when every connection is closed */
export function gracefulShutdown(
  server: Server,
  { drainMs, graceMs, endStreams }: GracefulShutdownOptions,
): (ending?: { isReplaced: boolean }) => Promise<void> {
  /** Each open connection, with its last response; undefined before the first. */
  const connections = new Map<Socket, ServerResponse | undefined>();
  /** Connections that are no longer HTTP. */
  const upgraded = new Set<Socket>();
  let isEnding = false;
  server.on('connection', (socket) => {
    connections.set(socket, undefined);
    socket.once('close', () => {
      connections.delete(socket);
      upgraded.delete(socket);
    });
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => {
    connections.delete(socket);
    upgraded.add(socket);
  });
  // Before the application, which might respond immediately.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    connections.set(socket, response);
    if (isEnding) response.shouldKeepAlive = false;
  });

  return async ({ isReplaced } = { isReplaced: false }) => {
    isEnding = true;
    const closed = Promise.withResolvers<void>();
    // Without http.Server's own close, which closes idle connections: a request may be on its way.
    if (isReplaced) NetServer.prototype.close.call(server, () => closed.resolve());
    for (const response of connections.values())
      if (response && !response.headersSent) response.shouldKeepAlive = false;
    await wait(drainMs);
    if (!isReplaced) server.close(() => closed.resolve());
    endStreams();
    const timers = [
      setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS),
      setTimeout(() => {
        for (const [socket, response] of connections) if (!response) socket.destroy();
      }, FIRST_REQUEST_MS),
      setTimeout(
        () => {
          server.closeAllConnections();
          for (const socket of upgraded) socket.destroy();
        },
        Math.max(0, graceMs - drainMs),
      ),
    ];
    await closed.promise;
    for (const timer of timers) clearTimeout(timer);
  };
}
