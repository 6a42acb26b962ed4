/** Finds free TCP ports. */
import { once } from 'node:events';
import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** Whether the port of the loopback address is free. */
export async function isFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== undefined;
}

/** A free port: the preferred one if possible. */
export async function freePort(wish = 0): Promise<number> {
  const port = (await tryPort(wish)) ?? (await tryPort(0));
  if (port === undefined) throw new Error('No free port');
  return port;
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
