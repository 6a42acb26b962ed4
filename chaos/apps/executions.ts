/** Collects executions: each app reports a step, or a call without steps, when it starts to execute it; some also when it ends. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Execution } from '../history/entry.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Timeline } from '../timeline.ts';
import { CALL } from './report.ts';

/** Times are Unix milliseconds. */
type Report = Omit<Execution, 'kind' | 'tickMs'> & {
  /** The event's time; for the run of a schedule, the time of its tick. */
  ts?: number;
};

export interface ExecutionsListener {
  url: string;
  /** Resolves when an app starts to execute the step of the function, or when that takes too long. */
  started(functionId: string, step: string, withinMs: number): Promise<void>;
  close(): Promise<void>;
}

const DESTINATION_PATH = /^\/destinations\/(\w+)$/;

/** A request to a destination: the whole work of a run. */
function executionOf(name: string, headers: IncomingHttpHeaders, body: unknown, atMs: number): Execution {
  return {
    kind: 'execution',
    phase: 'start',
    id: randomUUID(),
    app: 'destination',
    functionId: `destination:${name}`,
    runId: String(headers['webhook-id']),
    step: CALL,
    sentIds: [(body as { id: string }).id],
    finished: [],
    atMs,
  };
}

/** @param isScheduled functions that ticks start */
export async function listenForExecutions(
  timeline: Timeline,
  recorder: Recorder,
  isScheduled: (functionId: string) => boolean,
): Promise<ExecutionsListener> {
  const waiting = new Map<string, () => void>();
  const server = createServer(async (request, response) => {
    const destination = DESTINATION_PATH.exec(request.url ?? '')?.[1];
    if (destination !== undefined) {
      recorder.add(executionOf(destination, request.headers, await json(request), timeline.nowMs));
      response.end();
      return;
    }
    const { ts, atMs, finished, ...execution } = (await json(request)) as Report;
    recorder.add({
      kind: 'execution',
      ...execution,
      // Go sends null for an empty list.
      finished: finished ?? [],
      ...(ts !== undefined && isScheduled(execution.functionId) && { tickMs: timeline.sinceStart(ts) }),
      atMs: timeline.sinceStart(atMs),
    });
    response.end();
    waiting.get(`${execution.functionId} ${execution.step}`)?.();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async started(functionId, step, withinMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(`${functionId} ${step}`, resolve);
      const late = setTimeout(resolve, withinMs);
      await promise;
      clearTimeout(late);
      waiting.delete(`${functionId} ${step}`);
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
