/** What to do where an app and a service in dev mode do not find each other: who forgets SERVICE_DEV, or the service's port, sees only that
 *  something does not work. */
import type { Config } from '../../config.ts';
import type { Dialect } from '../../model/apps/app.ts';

/** The variable that puts an app into dev mode. */
const VARIABLES: Record<Dialect, string> = { service: 'SERVICE_DEV', inngest: 'INNGEST_DEV' };

/** The service's address for apps on the same machine. */
export function localAddress({ port, publicUrl }: Pick<Config, 'port' | 'publicUrl'>): string {
  return publicUrl ?? `http://127.0.0.1:${port === 0 ? '<port>' : port}`;
}

/** How to start an app, in a sentence.
 *  @param dialect of the app; undefined: unknown */
export function startInDevMode(address: string, dialect: Dialect | undefined): string {
  if (dialect !== undefined) return `start the app with ${VARIABLES[dialect]}=${address}`;
  return `start the app with ${VARIABLES.service}=${address}, or ${VARIABLES.inngest} where it has an official Inngest SDK`;
}

/** Follows the problem of an app that has not registered with a service in dev mode.
 *  @param address of the service; undefined: it is not in dev mode */
export function notRegisteredHint(address: string | undefined, dialect: Dialect | undefined): string {
  if (address === undefined) return '';
  return `. This service is in dev mode at ${address}: if the app is in production mode, or looks for a service elsewhere, ${startInDevMode(address, dialect)}`;
}

/** Why the app's mode is not the service's, and what to do. */
export function otherKindProblem(expected: string, kind: 'dev' | 'cloud', address: string, dialect: Dialect): string {
  const variable = VARIABLES[dialect];
  const what = `the app expects a service of kind "${expected}", this one is "${kind}"`;
  if (kind === 'dev') return `${what}: the app is in production mode; ${startInDevMode(address, dialect)}`;
  return `${what}: the app is in dev mode; unset its ${variable}, and give it ${variable.replace('DEV', 'BASE_URL')} and ${variable.replace('DEV', 'SIGNING_KEY')}`;
}
