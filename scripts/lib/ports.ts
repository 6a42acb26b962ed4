/** TCP ports of this machine. */
import { once } from 'node:events';
import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** Whether a program could listen on the port of the loopback address now. */
export async function isFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== undefined;
}

/** A port that is free now: the wished one if it is, else any. */
export async function freePort(wish = 0): Promise<number> {
  const port = (await tryPort(wish)) ?? (await tryPort(0));
  if (port === undefined) throw new Error('no port is free');
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
