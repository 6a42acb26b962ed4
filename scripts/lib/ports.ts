/** Finds free TCP ports. */
import { once } from 'node:events';
import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';
/** Below those that systems give to who listens on port 0, so that nobody gets the port by chance before it is used. */
const RANDOM_MIN = 12_000;
const RANDOM_COUNT = 20_000;
const TRIES = 100;

/** Whether the port of the loopback address is free. */
export async function isFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== undefined;
}

/** A free port: the preferred one if possible. */
export async function freePort(wish?: number): Promise<number> {
  const wishes = wish === undefined ? [] : [wish];
  for (const port of [...wishes, ...Array.from({ length: TRIES }, randomPort)]) if (await isFree(port)) return port;
  throw new Error('No free port');
}

function randomPort(): number {
  return RANDOM_MIN + Math.floor(Math.random() * RANDOM_COUNT);
}

async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(port, LOOPBACK);
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' ? address?.port : undefined;
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  } finally {
    await new Promise((closed) => server.close(closed));
  }
}
