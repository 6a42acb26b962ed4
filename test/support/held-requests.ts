/** A server that responds to a request only when the test lets it: shows how many an app makes at the same time. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.ts';

export interface HeldRequests {
  url: string;
  /** The most that there were at the same time. */
  readonly most: number;
  /** Resolves when so many wait for a response. */
  waiting(count: number): Promise<void>;
  /** Responds to the one that has waited longest. */
  respond(): void;
  close(): Promise<void>;
}

export async function holdRequests(): Promise<HeldRequests> {
  const held: ServerResponse[] = [];
  let most = 0;
  const server = createServer((_, response) => {
    held.push(response);
    most = Math.max(most, held.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    get most() {
      return most;
    },
    async waiting(count) {
      await until(() => held.length === count, { describe: () => `${count} requests wait, not ${held.length}` });
    },
    respond() {
      held.shift()?.end('done');
    },
    async close() {
      for (const response of held) response.destroy();
      server.closeAllConnections();
      await new Promise<unknown>((resolve) => server.close(resolve));
    },
  };
}
