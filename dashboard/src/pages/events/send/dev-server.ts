/** Forwarding a copy of an event to a service in dev mode on the reader's own machine. The browser sends it: the service that shows
 *  the event cannot reach that machine. */

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

/** The page's policy lets it send to this machine and to its own origin, nowhere else (src/api/dashboard.ts). */
const LOCAL = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

/** @returns why nothing can be sent there; undefined: it can */
export function addressError(address: string): string | undefined {
  const origin = originOf(address);
  if (origin === undefined) return `An address such as ${DEFAULT_ADDRESS}`;
  if (LOCAL.test(origin) || origin === window.location.origin) return undefined;
  return 'Only this machine can be reached from here: http://127.0.0.1 or http://localhost, with any port';
}

/** @returns the ID that the event got there
 *  @throws Error that says what is the matter there */
export async function forwardEvent(address: string, event: EventToSend): Promise<string> {
  const origin = originOf(address) as string;
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: stringifyExact(event) };
  const answer = await fetch(`${origin}/e/dev`, { ...init, credentials: 'omit' }).catch(() => undefined);
  if (!answer) throw new Error(await unreachableReason(origin));
  const { ids, error } = bodyOf(await answer.text());
  if (answer.ok && ids?.[0] !== undefined) return ids[0];
  throw new Error(`${origin} answered ${answer.status}: ${error ?? 'nothing that a service would answer'}`);
}

/** A request whose answer may not be read tells whether anything is there at all. */
async function unreachableReason(origin: string): Promise<string> {
  const listens = await fetch(origin, { mode: 'no-cors', credentials: 'omit' }).then(
    () => true,
    () => false,
  );
  if (listens) {
    return `Something runs at ${origin}, but takes no events from this page. Is it the service, in dev mode (MODE=dev), with DEV_ALLOWED_ORIGINS=${window.location.origin}?`;
  }
  return `Nothing answers at ${origin}. Either no service runs there, or the browser does not let this page reach this machine.`;
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
