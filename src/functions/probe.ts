/** Probes an app at its URL without running a function: whether it responds, its introspection (docs/protocol.md#introspection), and
 *  whether it accepts calls signed with the environment's key. */
import { type Dispatcher, errors, request } from 'undici';
import type { Dialect } from '../model/apps/app.ts';
import type { ConnectionProblem, ProbeResult } from '../model/apps/app-problems.ts';
import { isJsonObject, tryParseJson } from '../model/values/json.ts';
import { dialectOf, headerName, readHeader, SERVER_SDK, signatureHeaders } from './headers.ts';
import { AddressBlocked, readText } from './http-agent.ts';
import { requestFollowing } from './redirects.ts';

const TIMEOUT_MS = 10_000;
const RESPONSE_MAX_BYTES = 1_048_576;
/** Maximum length of the quoted part of a response. */
const TEXT_MAX = 300;
/** A function that no app has, so its call ends after the signature check. */
const NO_FUNCTION = 'check-without-a-function';

export interface AppToProbe {
  url: string;
  dialect: Dialect;
  dev: boolean;
  /** undefined in dev mode, in which calls are not signed. */
  signingKey: string | undefined;
  /** Time limit of both requests together. Default: 10 s for each. */
  timeoutMs?: number;
}

/** Never throws: a failure is a result, too. */
export async function probeApp(app: AppToProbe, agent: Dispatcher): Promise<ProbeResult> {
  const startedAt = performance.now();
  const signal = app.timeoutMs === undefined ? undefined : AbortSignal.timeout(app.timeoutMs);
  try {
    const response = await requestFollowing(app.url, {
      dispatcher: agent,
      signal: signal ?? AbortSignal.timeout(TIMEOUT_MS),
      headers: callHeaders(app, app.url, ''),
    });
    const text = await readText(response.body, RESPONSE_MAX_BYTES);
    const responseTimeMs = Math.round(performance.now() - startedAt);
    const dialect = dialectOf(response.headers);
    const isApp = dialect !== undefined;
    const probed = {
      responseTimeMs,
      status: response.statusCode,
      isApp,
      dialect,
      sdk: readHeader(response.headers, 'sdk'),
      ...introspection(text),
      text: text.slice(0, TEXT_MAX),
    };
    return isApp && app.signingKey ? { ...probed, rejectsCalls: await rejectsCalls(app, agent, signal) } : probed;
  } catch (error) {
    return { connectionProblem: connectionProblemOf(error as Error), message: messageOf(error as Error) };
  }
}

function callHeaders({ dialect, dev, signingKey }: AppToProbe, url: string, body: string): Record<string, string> {
  return {
    [headerName(dialect, 'sdk')]: SERVER_SDK,
    [headerName(dialect, 'server-kind')]: dev ? 'dev' : 'cloud',
    ...signatureHeaders(dialect, url, body, signingKey),
  };
}

/** All SDKs reject a call with a wrong signature with 401 before they look up the function. */
async function rejectsCalls(
  app: AppToProbe,
  agent: Dispatcher,
  signal: AbortSignal = AbortSignal.timeout(TIMEOUT_MS),
): Promise<boolean> {
  const target = new URL(app.url);
  target.searchParams.set('fnId', NO_FUNCTION);
  target.searchParams.set('stepId', 'step');
  const body = '{}';
  const headers = { 'content-type': 'application/json', ...callHeaders(app, target.href, body) };
  const response = await request(target, { method: 'POST', dispatcher: agent, signal, headers, body });
  await response.body.dump();
  return response.statusCode === 401;
}

function introspection(text: string): Pick<ProbeResult, 'functionCount' | 'mode'> {
  const body = tryParseJson(text);
  if (!isJsonObject(body)) return {};
  const { function_count, mode } = body;
  return {
    ...(typeof function_count === 'number' && { functionCount: function_count }),
    ...((mode === 'dev' || mode === 'cloud') && { mode }),
  };
}

function connectionProblemOf(error: Error): ConnectionProblem {
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

/** An AggregateError for several addresses has no message of its own. */
function messageOf(error: Error): string {
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
