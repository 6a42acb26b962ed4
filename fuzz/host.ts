/** An app with hostile responses: the event of a run contains the response to its first call. Later calls get `null`, so that every run
 *  ends. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { bytesOf, isPause, type Piece } from './case.ts';

/** The format of `data.answer` in an event. */
export interface ScriptedResponse {
  status: number;
  headers?: Record<string, string>;
  body?: Piece[];
  /** Close the connection after the body. */
  cut?: boolean;
}

const SDK = 'fuzz:v1.0.0';
const CALL_MAX_BYTES = 8 * 1_048_576;

export interface Host {
  url: string;
  /** Number of calls by function ID. */
  calls: Map<string, number>;
  /** Requests for URLs that the service must not fetch. */
  fetched: string[];
  close(): Promise<void>;
}

export async function startHost(): Promise<Host> {
  const calls = new Map<string, number>();
  const fetched: string[] = [];
  const server = createServer((request, response) => {
    if (request.url?.includes('/fetched')) fetched.push(request.url);
    answer(request, response, calls).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    calls,
    fetched,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, calls: Map<string, number>): Promise<void> {
  const body = await buffer(request);
  const name = new URL(request.url ?? '/', 'http://host').searchParams.get('fnId') ?? '';
  calls.set(name, (calls.get(name) ?? 0) + 1);
  const played =
    request.method === 'POST' && body.length < CALL_MAX_BYTES ? scriptedResponse(body.toString()) : undefined;
  const headers = { 'content-type': 'application/json', 'x-service-sdk': SDK };
  if (!played) {
    response.writeHead(200, headers).end('null');
    return;
  }
  response.writeHead(statusOf(played), { ...headers, ...validHeaders(played.headers) });
  for (const piece of Array.isArray(played.body) ? played.body : []) {
    if (!isPause(piece)) response.write(bytesOf(piece, {}));
  }
  if (played.cut) response.destroy();
  else response.end();
}

/** @returns undefined for later calls of a run */
function scriptedResponse(text: string): ScriptedResponse | undefined {
  try {
    const { event, ctx, answer } = JSON.parse(text);
    // A destination gets the data of the event alone.
    if (ctx === undefined) return typeof answer === 'object' ? (answer ?? undefined) : undefined;
    const isFirst = ctx.attempt === 0 && ctx.stack.current === 0 && ctx.step_id === 'step';
    return isFirst && typeof event.data.answer === 'object' ? (event.data.answer ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

function statusOf({ status }: ScriptedResponse): number {
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : 200;
}

/** Without headers that Node's server rejects. */
function validHeaders(headers: unknown): Record<string, string> {
  const given = typeof headers === 'object' && headers !== null ? Object.entries(headers) : [];
  return Object.fromEntries(
    given.filter(
      ([name, value]) => /^[\w-]+$/.test(name) && typeof value === 'string' && /^[\t\x20-\x7e]*$/.test(value),
    ),
  );
}
