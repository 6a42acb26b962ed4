/** Collects executions: each app reports a step, or a call without steps, when it starts to execute it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Timeline } from '../timeline.ts';

export interface Execution {
  app: string;
  runId: string;
  /** `(call)` for a function without steps. */
  step: string;
  /** Steps of the run whose results the service sent to the app. */
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
    // Go sends null for an empty list.
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
