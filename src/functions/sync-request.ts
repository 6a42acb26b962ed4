/** Asks an app to register itself (docs/protocol.md#registration). */
import { type Dispatcher, request } from 'undici';
import { ServiceError } from '../errors.ts';
import { dialectOf } from './headers.ts';
import { AddressBlocked, readText } from './http-agent.ts';

/** Longest that an app may take to register. */
export const SYNC_REQUEST_TIMEOUT_MS = 10_000;
const ANSWER_MAX_BYTES = 65_536;
/** Characters of an answer that are told on. */
const SHOWN = 500;

/** Resolves once the app says that it has registered, to what it said.
 *  @throws ServiceError app_unreachable, address_blocked */
export async function requestSync(url: string, outgoing: Dispatcher): Promise<string> {
  const refuse = (detail: string, cause?: unknown) =>
    new ServiceError('app_unreachable', { detail: `PUT ${url}: ${detail}`, cause });
  try {
    const signal = AbortSignal.timeout(SYNC_REQUEST_TIMEOUT_MS);
    const answer = await request(url, { method: 'PUT', dispatcher: outgoing, signal });
    const body = await readText(answer.body, ANSWER_MAX_BYTES);
    if (!dialectOf(answer.headers)) {
      throw refuse(`the answer (status ${answer.statusCode}) has no sdk header; is it an app's URL?`);
    }
    if (answer.statusCode !== 200) throw refuse(`status ${answer.statusCode}: ${body.slice(0, SHOWN)}`);
    return body.slice(0, SHOWN);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { message } = error as Error;
    throw error instanceof AddressBlocked
      ? new ServiceError('address_blocked', { detail: message })
      : refuse(message, error);
  }
}
