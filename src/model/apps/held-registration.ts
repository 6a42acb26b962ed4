/** Held registrations wait for confirmation because their app gives an origin that is not allowed. Only the origins are stored; after the
 *  confirmation the app is asked to register again. */
import { createHash } from 'node:crypto';
import { isAllowedOrigin } from '../../origin-patterns.ts';
import { isConnected } from './connection.ts';
import type { AppFacts, SyncOrigin } from './deploy.ts';

export interface HeldRegistration extends Omit<AppFacts, 'deployId'> {
  /** All registrations of the app at this URL with these origins share the ID, so confirming an ID confirms exactly what was shown. */
  id: string;
  app: string;
  /** All origins of the app's URL and its functions' URLs that are not allowed. */
  origins: string[];
  functionCount: number;
  /** Times of the first and the last registration with this ID, Unix milliseconds. */
  firstAt: number;
  lastAt: number;
}

/** Registrations of an app that were dropped because the maximum number of held registrations was reached. */
export interface RefusedRegistrations {
  count: number;
  /** Unix milliseconds. */
  lastAt: number;
  lastUrl: string;
}

/** Hexadecimal: an ID that begins with "-" would be an option on the command line. */
export function heldIdOf(app: string, origins: readonly string[], url: string): string {
  return createHash('sha256')
    .update(JSON.stringify([app, origins.toSorted(), url]))
    .digest('hex')
    .slice(0, 32);
}

export interface RegisteredOrigins {
  /** Origins of the registered URL and of the functions' URLs. */
  given: readonly string[];
  /** Origins that the app has now; undefined if the app is unknown. */
  present: readonly string[] | undefined;
  allowed: readonly string[];
  /** Whether registrations of unknown apps are held too. */
  holdsNewApps: boolean;
}

/** @returns the origins that need confirmation */
export function unconfirmedOrigins({ given, present, allowed, holdsNewApps }: RegisteredOrigins): string[] {
  if (present === undefined && !holdsNewApps) return [];
  return given.filter((origin) => !present?.includes(origin) && !isAllowedOrigin(origin, allowed));
}

/** Whether the app itself reports its URL. The response to a sync request does so too, and may name another URL than the requested one.
 *  Apps that connect have no URL. */
export function namesItsUrl({ kind }: SyncOrigin): boolean {
  return kind !== 'connection';
}

/** Apps and functions that connect are skipped: they have no address. */
export function originsOf(urls: readonly string[]): string[] {
  return [...new Set(urls.filter((url) => !isConnected(url)).map((url) => new URL(url).origin))];
}
