/** Requests to the service. On Node, requests use node:http, which takes a fraction of the CPU time of Node's fetch. They use fetch on other
 *  platforms, and if fetch or its dispatcher was replaced (by a proxy, for example). */
import type { IncomingMessage } from 'node:http';

export interface RequestInit {
  method?: string;
  /** Names in any case. */
  headers?: Record<string, string>;
  body?: string;
}

/** The response, read to its end. */
export interface ServiceResponse {
  ok: boolean;
  status: number;
  text: string;
  header(name: string): string | undefined;
}

/** Rejects with the reason of the signal when that aborts. */
export type SendRequest = (url: string, init: RequestInit & { signal: AbortSignal }) => Promise<ServiceResponse>;

const platformFetch = globalThis.fetch;
/** The global under which undici keeps the dispatcher of fetch. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** @param fetch of the client's options */
export function requestBy(fetch: typeof globalThis.fetch | undefined): SendRequest {
  return (fetch === undefined && isFetchUnchanged() && nodeRequest) || fetchRequest(fetch ?? globalThis.fetch);
}

function isFetchUnchanged(): boolean {
  const { [DISPATCHER]: dispatcher } = globalThis as { [DISPATCHER]?: object };
  return globalThis.fetch === platformFetch && (dispatcher === undefined || dispatcher.constructor.name === 'Agent');
}

function fetchRequest(fetch: typeof globalThis.fetch): SendRequest {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { ok, status, headers } = response;
    return { ok, status, text: await response.text(), header: (name) => headers.get(name) ?? undefined };
  };
}

/** undefined: this is not Node, or one before 20.16. Others have some of its modules. */
const nodeRequest = ((): SendRequest | undefined => {
  const { process } = globalThis;
  const { uv, bun, deno } = process?.versions ?? {};
  if (!uv || bun || deno || !process.getBuiltinModule) return undefined;
  const clients = { 'http:': process.getBuiltinModule('node:http'), 'https:': process.getBuiltinModule('node:https') };
  const send = (to: string, { body, signal, ...init }: RequestInit & { signal: AbortSignal }) =>
    new Promise<ServiceResponse>((resolve, reject) => {
      const url = new URL(to);
      // Without a length, bodies are sent in chunks.
      const headers = { ...init.headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) };
      const { request } = clients[url.protocol as keyof typeof clients];
      request(url, { ...init, headers, signal }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part) => {
          text += part;
        });
        response.on('error', reject).on('end', () => resolve(responseOf(response, text)));
      })
        .on('error', reject)
        .end(body);
    });
  return async (url, init) => {
    try {
      const response = await send(url, init);
      // fetch knows which redirects to follow, and how.
      return response.status >= 300 && response.status < 400 ? await fetchRequest(platformFetch)(url, init) : response;
    } catch (error) {
      throw init.signal.aborted ? init.signal.reason : error;
    }
  };
})();

function responseOf({ statusCode: status = 0, headers }: IncomingMessage, text: string): ServiceResponse {
  const header = (name: string) => [headers[name.toLowerCase()] ?? []].flat()[0];
  return { ok: status >= 200 && status < 300, status, text, header };
}
