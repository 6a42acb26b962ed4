/** Registrations that wait until somebody confirms them, because their app names an origin that nobody has allowed. Of such a registration only where it
 *  came from is kept: once it is confirmed, the app is asked to register again. */
import { createHash } from 'node:crypto';
import { isAllowedOrigin } from '../../origin-patterns.ts';
import { isConnected } from './connection.ts';
import type { AppFacts, SyncOrigin } from './deploy.ts';

export interface HeldRegistration extends Omit<AppFacts, 'deployId'> {
  /** The same for every registration of the app at this URL with these origins: who confirms an ID confirms what was shown with it. */
  id: string;
  app: string;
  /** All that nobody has allowed: of the URL, and of functions. */
  origins: string[];
  functionCount: number;
  /** The first and the last one, Unix milliseconds. */
  firstAt: number;
  lastAt: number;
}

/** Registrations of an app that were not kept, because as many as may wait already did. */
export interface RefusedRegistrations {
  count: number;
  /** Unix milliseconds. */
  lastAt: number;
  lastUrl: string;
}

export function heldIdOf(app: string, origins: readonly string[], url: string): string {
  return createHash('sha256')
    .update(JSON.stringify([app, origins.toSorted(), url]))
    .digest('base64url')
    .slice(0, 22);
}

export interface RegisteredOrigins {
  /** Origins of the registration's URL and of its functions' URLs. */
  given: readonly string[];
  /** Where the app is now; undefined: it is not known. */
  present: readonly string[] | undefined;
  allowed: readonly string[];
  /** Whether apps that are not known wait too. */
  holdsNewApps: boolean;
}

/** @returns the origins that somebody has to confirm */
export function unconfirmedOrigins({ given, present, allowed, holdsNewApps }: RegisteredOrigins): string[] {
  if (present === undefined && !holdsNewApps) return [];
  return given.filter((origin) => !present?.includes(origin) && !isAllowedOrigin(origin, allowed));
}

/** Whether the app says where it is, also in its answer to the service, which may name another URL than the one that was asked. An app that connects has
 *  no URL. */
export function namesItsUrl({ kind }: SyncOrigin): boolean {
  return kind !== 'connection';
}

/** Apps and functions that connect have no address. */
export function originsOf(urls: readonly string[]): string[] {
  return [...new Set(urls.filter((url) => !isConnected(url)).map((url) => new URL(url).origin))];
}
