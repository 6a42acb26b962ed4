/** Sends a logged request to a server on this machine, unchanged. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Json } from '../api-client.ts';

const TIMEOUT_MS = 30_000;
const BODY_SHOWN = 2_000;
/** Headers of the connection over which the request was received, not of this connection. */
const OF_CONNECTIONS = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
  ...['host', 'content-length'],
]);

/** A server on this machine usually has a self-signed certificate. */
const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export interface Target {
  to: URL;
  /** Replace the headers of the request. */
  headers: readonly [string, string][];
  signal: AbortSignal;
}

export interface Forwarded {
  /** null: there was no response. */
  status: number | null;
  duration_ms: number;
  /** Why there was no response. */
  error: string | null;
  /** The beginning of the response. */
  body: string;
}

/** @param request as `GET /v1/webhooks/:id/requests/:rid/original` has it */
export async function forward(request: Json, { to, headers, signal }: Target): Promise<Forwarded> {
  const startedAt = performance.now();
  const answer = (given: Partial<Forwarded>): Forwarded => {
    return { status: null, error: null, body: '', ...given, duration_ms: Math.round(performance.now() - startedAt) };
  };
  if (request.body === null) return answer({ error: 'not forwarded: its body was not read completely' });
  try {
    const body = Buffer.from(request.body, 'base64');
    const response = await send(
      urlOf(to, request.query_string),
      request.method,
      headersOf(request, headers),
      body,
      signal,
    );
    return answer({ status: response.statusCode ?? 0, body: await beginningOf(response) });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return answer({
      error: code === 'ECONNREFUSED' ? `nothing listens at ${to.host}` : message || code || 'no response',
    });
  }
}

/** The query string of the request follows that of the target. */
function urlOf(to: URL, queryString: string): URL {
  const url = new URL(to);
  url.hash = '';
  const both = [url.search.slice(1), queryString].filter((text) => text !== '').join('&');
  return new URL(`${url.origin}${url.pathname}${both === '' ? '' : `?${both}`}`);
}

function headersOf(request: Json, replaced: readonly [string, string][]): string[] {
  const given = (request.headers as [string, string][]).filter(([name]) => {
    return !OF_CONNECTIONS.has(name) && !replaced.some(([other]) => other === name) && !isWithheld(request, name);
  });
  const host = (request.headers as [string, string][]).find(([name]) => name === 'host')?.[1];
  const knowsHost = given.some(([name]) => name === 'x-forwarded-host');
  return [...given, ...replaced, ...(host && !knowsHost ? [['x-forwarded-host', host]] : [])].flat() as string[];
}

function isWithheld({ withheld }: Json, name: string): boolean {
  return withheld.includes(name);
}

/** Node's own client: fetch would change headers, and send no body with GET. */
function send(
  url: URL,
  method: string,
  headers: string[],
  body: Buffer,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const length = body.length > 0 || !/^(GET|HEAD|DELETE)$/.test(method) ? ['content-length', String(body.length)] : [];
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
      url,
      {
        method,
        headers: ['host', url.host, ...headers, ...length],
        signal,
        rejectUnauthorized: !LOOPBACK.test(url.hostname),
      },
      resolve,
    );
    request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error(`no response within ${TIMEOUT_MS / 1_000} s`)));
    request.on('error', reject);
    request.end(body);
  });
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    text += chunk;
    if (text.length > BODY_SHOWN) break;
  }
  return text.slice(0, BODY_SHOWN);
}
