/** Asks an app to register (docs/protocol.md#registration). */
import type { Dispatcher } from 'undici';
import { ServiceError } from '../errors.ts';
import { dialectOf } from './headers.ts';
import { AddressBlocked, readText } from './http-agent.ts';
import { requestFollowing } from './redirects.ts';

/** Time limit for an app to register. */
export const SYNC_REQUEST_TIMEOUT_MS = 10_000;
const RESPONSE_MAX_BYTES = 65_536;
/** Quoted part of a response. */
const BODY_CHARS = 500;

/** Resolves to the app's response when the app has registered.
 *  @throws ServiceError app_unreachable, address_blocked */
export async function requestSync(url: string, agent: Dispatcher): Promise<string> {
  const unreachable = (detail: string, cause?: unknown) =>
    new ServiceError('app_unreachable', { detail: `PUT ${url}: ${detail}`, cause });
  try {
    const signal = AbortSignal.timeout(SYNC_REQUEST_TIMEOUT_MS);
    const response = await requestFollowing(url, { method: 'PUT', dispatcher: agent, signal });
    const body = await readText(response.body, RESPONSE_MAX_BYTES);
    if (!dialectOf(response.headers)) {
      throw unreachable(
        `the response (status ${response.statusCode}) has no sdk header; check that this is an app's URL`,
      );
    }
    if (response.statusCode !== 200) throw unreachable(`status ${response.statusCode}: ${body.slice(0, BODY_CHARS)}`);
    return body.slice(0, BODY_CHARS);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { message } = error as Error;
    throw error instanceof AddressBlocked
      ? new ServiceError('address_blocked', { detail: message })
      : unreachable(message, error);
  }
}
