/** Registrations that wait until somebody confirms them, because their app names an origin that nobody has allowed. Of such a registration only where it
 *  came from is kept: once it is confirmed, the app is asked to register again. */
import { createHash } from 'node:crypto';
import { isAllowedOrigin } from '../../origin-patterns.ts';
import { isConnected } from './connection.ts';
import type { AppFacts, SyncOrigin } from './deploy.ts';

export interface HeldRegistration extends Omit<AppFacts, 'deployId'> {
  /** The same for every registration of the app at this URL: who confirms an ID confirms the URL that was shown with it. */
  id: string;
  app: string;
  /** The origin that nobody has allowed: of the URL, or of a function. */
  origin: string;
  functionCount: number;
  /** The first and the last one, Unix milliseconds. */
  firstAt: number;
  lastAt: number;
}

export function heldIdOf(app: string, origin: string, url: string): string {
  return createHash('sha256')
    .update(JSON.stringify([app, origin, url]))
    .digest('base64url')
    .slice(0, 22);
}

export interface RegisteredOrigins {
  /** Of the registration's URL and of those of its functions. */
  given: readonly string[];
  /** Where the app is now; undefined: it is not known. */
  present: readonly string[] | undefined;
  allowed: readonly string[];
  /** Whether apps that are not known wait too. */
  holdsNewApps: boolean;
}

/** @returns the first origin that somebody has to confirm; undefined: there is none */
export function unconfirmedOrigin({ given, present, allowed, holdsNewApps }: RegisteredOrigins): string | undefined {
  if (present === undefined && !holdsNewApps) return undefined;
  return given.find((origin) => !present?.includes(origin) && !isAllowedOrigin(origin, allowed));
}

/** Whether an app chooses its URL by itself. Over a connection it has none, and in the answer to the service it has the one that it was asked at. */
export function isSelfRegistered({ kind }: SyncOrigin): boolean {
  return kind === 'app';
}

/** Apps and functions that connect have no address. */
export function originsOf(urls: readonly string[]): string[] {
  return [...new Set(urls.filter((url) => !isConnected(url)).map((url) => new URL(url).origin))];
}
