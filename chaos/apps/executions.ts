/** What the apps really did: each tells of a step, or of a call without steps, as it begins to execute it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Timeline } from '../timeline.ts';

export interface Execution {
  app: string;
  runId: string;
  /** `(call)`: the function itself, where it has no steps. */
  step: string;
  /** Steps of the same run that the service has told the app are finished. */
  finished: string[];
  atMs: number;
}

export interface Executions {
  url: string;
  all: readonly Execution[];
  close(): Promise<void>;
}

export async function listenForExecutions(timeline: Timeline): Promise<Executions> {
  const all: Execution[] = [];
  const server = createServer(async (request, response) => {
    const { app, runId, step, finished } = (await json(request)) as Omit<Execution, 'atMs'>;
    // Go has null for a list without anything in it.
    all.push({ app, runId, step, finished: finished ?? [], atMs: timeline.nowMs });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    all,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
