/** Asks an app to register itself (protocol: registering). */
import { request } from 'undici';
import { ServiceError } from '../errors.ts';
import { dialectOf } from './headers.ts';

const TIMEOUT_MS = 10_000;

/** Resolves once the app has registered.
 *  @throws ServiceError app_unreachable */
export async function askToRegister(url: string): Promise<void> {
  const refuse = (detail: string, cause?: unknown) =>
    new ServiceError('app_unreachable', { detail: `PUT ${url}: ${detail}`, cause });
  const answer = await request(url, { method: 'PUT', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (error: Error) => {
      throw refuse(error.message, error);
    },
  );
  const body = await answer.body.text();
  if (!dialectOf(answer.headers))
    throw refuse(`the answer (status ${answer.statusCode}) has no sdk header; is it an app's URL?`);
  if (answer.statusCode !== 200) throw refuse(`status ${answer.statusCode}: ${body.slice(0, 500)}`);
}
