/** Ending an HTTP server in order: requests that have come are answered, and connections without one are closed. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Browsers and pools open connections ahead of their first request, which Node does not count as idle: such a request may be on its
 *  way, but not for ever. */
const FIRST_REQUEST_MS = 1_000;

/** @param server before it listens
 *  @returns what ends it; resolves when every connection is closed */
export function endingOf(server: Server): () => Promise<void> {
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  return () =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        for (const socket of unused) socket.destroy();
      }, FIRST_REQUEST_MS);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      server.closeIdleConnections();
    });
}
