/** Authenticated requests of the app to the service, other than sending events. */
import { ServeError } from './errors.ts';
import { HEADERS, SDK } from './headers.ts';
import { unreachable } from './hints.ts';
import type { RequestInit, ServiceResponse } from './request.ts';
import type { Settings } from './settings.ts';
import { hashedKey } from './signature.ts';

const TIMEOUT_MS = 30_000;

/** Retries with the fallback key: during a key rotation, the service may know only one of the two keys.
 *  @throws ServeError if the service could not be reached; ConfigError */
export async function askService(
  path: string,
  init: RequestInit,
  settings: Settings,
  timeoutMs = TIMEOUT_MS,
): Promise<ServiceResponse> {
  const timed = () => ({ ...init, signal: AbortSignal.timeout(timeoutMs) });
  const answer = await ask(path, timed(), settings, settings.mode === 'cloud' ? settings.signingKey : undefined);
  const refused = answer.status === 401 || answer.status === 403;
  if (!refused || settings.mode === 'dev' || !settings.signingKeyFallback) return answer;
  return ask(path, timed(), settings, settings.signingKeyFallback);
}

async function ask(
  path: string,
  init: RequestInit & { signal: AbortSignal },
  { mode, baseUrl, env, request }: Settings,
  key: string | undefined,
): Promise<ServiceResponse> {
  const headers = {
    ...init.headers,
    [HEADERS.sdk]: SDK,
    ...(env && { [HEADERS.env]: env }),
    ...(key && { authorization: `Bearer ${hashedKey(key)}` }),
  };
  try {
    return await request(`${baseUrl}${path}`, { ...init, headers });
  } catch (cause) {
    throw new ServeError(500, unreachable(cause, baseUrl, mode), { cause });
  }
}
