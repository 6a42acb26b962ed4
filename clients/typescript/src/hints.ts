/** Hints for a failed request: a forgotten SERVICE_DEV, or another port. */
import { reasonOf } from './response.ts';

const DEV =
  'if the service is in dev mode, set SERVICE_DEV=1 where the app runs, or SERVICE_DEV=http://127.0.0.1:<port> when it does not listen on port 8288';

/** The message when no response has come. Has the address without its path, which may contain a secret key. */
export function unreachable(cause: unknown, baseUrl: string, mode: 'dev' | 'cloud'): string {
  const reason = reasonOf(cause);
  const message = `The service at ${baseUrl} could not be reached: ${reason}`;
  if (!reason.includes('ECONNREFUSED')) return message;
  return mode === 'dev'
    ? `${message}. Is it started? In dev mode a service listens on port 8288, unless its PORT says otherwise: then set SERVICE_DEV to its address, such as http://127.0.0.1:9000`
    : `${message}. Is it started, and is SERVICE_BASE_URL its address?`;
}

/** Follows the message of a refusal. */
export function hintIfRefused(status: number, mode: 'dev' | 'cloud'): string {
  if (status !== 401) return '';
  if (mode === 'cloud') return `. The app is in production mode. Check its keys; ${DEV}`;
  return '. The app is in dev mode, which sends no keys: for a service in production unset SERVICE_DEV (and isDev), and set its keys';
}

/** Follows the message that a request to the app is not signed. Requests of a service in dev mode are not signed. */
export const HINT_IF_UNSIGNED = `. The app is in production mode; ${DEV}`;
