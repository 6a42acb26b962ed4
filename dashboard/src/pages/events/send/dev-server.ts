/** Forwards a copy of an event to a service in dev mode on the user's machine. The browser sends it, since this service cannot reach
 *  that machine. */

import type { EventToSend } from '../../../features/events/snippets/target.ts';
import { parseExact, stringifyExact } from '../../../lib/exact-json.ts';

export const DEFAULT_ADDRESS = 'http://127.0.0.1:8288';
const STORAGE_KEY = 'dev-server-address';

export function readAddress(): string {
  return localStorage.getItem(STORAGE_KEY) ?? DEFAULT_ADDRESS;
}

export function saveAddress(address: string): void {
  localStorage.setItem(STORAGE_KEY, address);
}

/** The CSP allows requests to this machine and to the dashboard's origin only (src/api/dashboard.ts). */
const LOCAL = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

/** @returns why the address cannot be used; undefined: it can */
export function addressError(address: string): string | undefined {
  const origin = originOf(address);
  if (origin === undefined) return `Enter a URL, for example ${DEFAULT_ADDRESS}`;
  if (LOCAL.test(origin) || origin === window.location.origin) return undefined;
  return 'The dev server must be on this machine: http://127.0.0.1 or http://localhost, any port';
}

/** @returns the ID of the forwarded copy
 *  @throws Error that says what to check */
export async function forwardEvent(address: string, event: EventToSend): Promise<string> {
  const origin = originOf(address) as string;
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: stringifyExact(event) };
  const response = await fetch(`${origin}/e/dev`, { ...init, credentials: 'omit' }).catch(() => undefined);
  if (!response) throw new Error(await unreachableReason(origin));
  const { ids, error } = bodyOf(await response.text());
  if (response.ok && ids?.[0] !== undefined) return ids[0];
  throw new Error(`${origin} responded with status ${response.status}: ${error ?? 'not a response of this service'}`);
}

/** A `no-cors` request shows whether a server listens there, although its response is opaque. */
async function unreachableReason(origin: string): Promise<string> {
  const reachable = await fetch(origin, { mode: 'no-cors', credentials: 'omit' }).then(
    () => true,
    () => false,
  );
  if (reachable) {
    return `${origin} does not accept events from this page. Start the service there with MODE=dev and DEV_ALLOWED_ORIGINS=${window.location.origin}.`;
  }
  return `Cannot reach ${origin}. Check that the service runs there and that the browser allows this page to access local addresses.`;
}

function originOf(address: string): string | undefined {
  const { protocol, origin } = URL.parse(address.trim()) ?? {};
  return protocol === 'http:' || protocol === 'https:' ? origin : undefined;
}

function bodyOf(text: string): { ids?: string[]; error?: string } {
  try {
    return (parseExact(text) ?? {}) as { ids?: string[]; error?: string };
  } catch {
    return {};
  }
}
