/** Looks an app up at its URL, without running anything of it: whether it answers, what it says of itself (docs/protocol.md#introspection), and
 *  whether it takes calls that are signed with the environment's key. */
import { type Dispatcher, errors, request } from 'undici';
import type { Dialect } from '../model/apps/app.ts';
import type { Finding, Obstacle } from '../model/apps/app-problems.ts';
import { isJsonObject } from '../model/values/json.ts';
import { dialectOf, headerName, SERVER_SDK, signatureHeaders } from './headers.ts';
import { AddressBlocked, readText } from './http-agent.ts';

const TIMEOUT_MS = 10_000;
const ANSWER_MAX_BYTES = 1_048_576;
/** Of an answer, as much as is shown. */
const TEXT_MAX = 300;
/** No app has it: a call of it comes as far as the proof of who is calling, and no further. */
const NO_FUNCTION = 'check-without-a-function';

export interface Probe {
  url: string;
  dialect: Dialect;
  dev: boolean;
  /** What signs calls; none in dev mode. */
  signingKey: string | undefined;
}

/** Never throws: what went wrong is what was to be found out. */
export async function probeApp(app: Probe, outgoing: Dispatcher): Promise<Finding> {
  const startedAt = performance.now();
  try {
    const answer = await request(app.url, { dispatcher: outgoing, ...timed(), headers: callHeaders(app, app.url, '') });
    const text = await readText(answer.body, ANSWER_MAX_BYTES);
    const answeredInMs = Math.round(performance.now() - startedAt);
    const isApp = dialectOf(answer.headers) !== undefined;
    const said = {
      answeredInMs,
      status: answer.statusCode,
      isApp,
      ...introspected(text),
      text: text.slice(0, TEXT_MAX),
    };
    return isApp && app.signingKey ? { ...said, callsRefused: await refusesCalls(app, outgoing) } : said;
  } catch (error) {
    return { obstacle: obstacleOf(error as Error), message: messageOf(error as Error) };
  }
}

function timed() {
  return { signal: AbortSignal.timeout(TIMEOUT_MS) };
}

function callHeaders({ dialect, dev, signingKey }: Probe, url: string, body: string): Record<string, string> {
  return {
    [headerName(dialect, 'sdk')]: SERVER_SDK,
    [headerName(dialect, 'server-kind')]: dev ? 'dev' : 'cloud',
    ...signatureHeaders(dialect, url, body, signingKey),
  };
}

/** Apps of all makes refuse a call whose signature is wrong with 401, before they look at what is called. */
async function refusesCalls(app: Probe, outgoing: Dispatcher): Promise<boolean> {
  const target = new URL(app.url);
  target.searchParams.set('fnId', NO_FUNCTION);
  target.searchParams.set('stepId', 'step');
  const body = '{}';
  const headers = { 'content-type': 'application/json', ...callHeaders(app, target.href, body) };
  const answer = await request(target, { method: 'POST', dispatcher: outgoing, ...timed(), headers, body });
  await answer.body.dump();
  return answer.statusCode === 401;
}

function introspected(text: string): Pick<Finding, 'functionCount' | 'mode'> {
  const said = parsed(text);
  if (!isJsonObject(said)) return {};
  const { function_count, mode } = said;
  return {
    ...(typeof function_count === 'number' && { functionCount: function_count }),
    ...((mode === 'dev' || mode === 'cloud') && { mode }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function obstacleOf(error: Error): Obstacle {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (error instanceof AddressBlocked) return 'blocked';
  if (error.name === 'TimeoutError' || error instanceof errors.ConnectTimeoutError || code === 'ETIMEDOUT')
    return 'timeout';
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) return 'timeout';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'dns';
  if (code === 'ECONNREFUSED') return 'refused';
  if (/^ERR_(SSL|TLS)_|CERT|SIGNATURE|EPROTO/.test(code)) return 'tls';
  return 'broken';
}

/** An attempt at several addresses fails with one error for all, which says nothing itself. */
function messageOf(error: Error): string {
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
