/** Authenticated requests of the app to the service, other than sending events. */
import { ServeError } from './errors.ts';
import { HEADERS, SDK } from './headers.ts';
import { unreachable } from './hints.ts';
import type { Settings } from './settings.ts';
import { hashedKey } from './signature.ts';

const TIMEOUT_MS = 30_000;

export interface ServiceAnswer {
  ok: boolean;
  status: number;
  text: string;
}

/** Retries with the fallback key: during a key rotation, the service may know only one of the two keys.
 *  @throws ServeError if it could not be reached; ConfigError */
export async function askService(
  path: string,
  init: RequestInit,
  settings: Settings,
  timeoutMs = TIMEOUT_MS,
): Promise<ServiceAnswer> {
  const timed = { ...init, signal: AbortSignal.timeout(timeoutMs) };
  const answer = await ask(path, timed, settings, settings.mode === 'cloud' ? settings.signingKey : undefined);
  const refused = answer.status === 401 || answer.status === 403;
  if (!refused || settings.mode === 'dev' || !settings.signingKeyFallback) return answer;
  return ask(path, { ...init, signal: AbortSignal.timeout(timeoutMs) }, settings, settings.signingKeyFallback);
}

/** @returns the headers, and those of an app's request to the service */
export function authenticated(given: RequestInit['headers'], { env }: Settings, key: string | undefined): Headers {
  const headers = new Headers(given);
  headers.set(HEADERS.sdk, SDK);
  if (env) headers.set(HEADERS.env, env);
  if (key) headers.set('authorization', `Bearer ${hashedKey(key)}`);
  return headers;
}

async function ask(path: string, init: RequestInit, settings: Settings, key: string | undefined) {
  const { mode, baseUrl, fetch } = settings;
  try {
    const response = await fetch(`${baseUrl}${path}`, { ...init, headers: authenticated(init.headers, settings, key) });
    return { ok: response.ok, status: response.status, text: await response.text() };
  } catch (cause) {
    throw new ServeError(500, unreachable(cause, baseUrl, mode), { cause });
  }
}
