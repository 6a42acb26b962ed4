/** Sends checkpoints by Node's HTTP client: a request by fetch takes five times the CPU time, which is most of what a step costs its app. */
import { type ClientRequest, request as overHttp, type RequestOptions } from 'node:http';
import { request as overHttps } from 'node:https';
import { checkpointPath, postCheckpoint, STORE_TIMEOUT_MS } from './checkpoints.ts';
import { authenticated } from './service.ts';
import type { Settings } from './settings.ts';

/** Statuses that a request by fetch may do better with: it follows redirects, and tries the fallback key. */
const LEFT_TO_FETCH: ReadonlySet<number> = new Set([301, 302, 303, 307, 308, 401, 403]);
/** Where undici has the dispatcher of fetch. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** Resolves to the status of the answer. */
export async function sendCheckpointByNode(runId: string, body: string, settings: Settings): Promise<number> {
  if (!isFetchUnchanged(settings)) return postCheckpoint(runId, body, settings);
  try {
    const status = await post(new URL(settings.baseUrl + checkpointPath(runId)), body, settings);
    if (!LEFT_TO_FETCH.has(status)) return status;
  } catch (error) {
    // The service had just closed the idle connection. Whatever it has received already, it stores once.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  }
  return postCheckpoint(runId, body, settings);
}

/** Whether neither the app nor its process has a fetch, or a proxy, of its own. */
function isFetchUnchanged({ fetch }: Settings): boolean {
  const dispatcher = (globalThis as { [DISPATCHER]?: object })[DISPATCHER];
  return fetch === globalThis.fetch && (dispatcher === undefined || dispatcher.constructor.name === 'Agent');
}

function post(url: URL, body: string, settings: Settings): Promise<number> {
  const headers = Object.fromEntries(
    authenticated(
      { 'content-type': 'application/json' },
      settings,
      settings.mode === 'cloud' ? settings.signingKey : undefined,
    ),
  );
  const options: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal: AbortSignal.timeout(STORE_TIMEOUT_MS),
  };
  return new Promise((resolve, reject) => {
    const request: ClientRequest = (url.protocol === 'https:' ? overHttps : overHttp)(url, options, (response) => {
      response.on('end', () => resolve(response.statusCode as number)).on('error', reject);
      response.resume();
    });
    request.on('error', reject).end(body);
  });
}
