/** Hints for apps and services in different modes: without SERVICE_DEV, or with a wrong port, people only see that something does not
 *  work. */
import type { Config } from '../../config.ts';
import type { Dialect } from '../../model/apps/app.ts';

/** The variable that puts an app into dev mode. */
const VARIABLES: Record<Dialect, string> = { service: 'SERVICE_DEV', inngest: 'INNGEST_DEV' };

/** Settings that decide where the service is. */
export type ServiceAddress = Pick<Config, 'port' | 'publicUrl'>;

/** The service's address for apps on the same machine. */
export function localAddress({ port, publicUrl }: ServiceAddress): string {
  return publicUrl ?? `http://127.0.0.1:${port === 0 ? '<port>' : port}`;
}

/** A sentence that says how to start an app.
 *  @param dialect of the app; undefined: unknown */
export function startInDevMode(address: string, dialect: Dialect | undefined): string {
  if (dialect !== undefined) return `start the app with ${VARIABLES[dialect]}=${address}`;
  return `start the app with ${VARIABLES.service}=${address}, or ${VARIABLES.inngest} where it has an official Inngest SDK`;
}

/** Appended to the problem of an app that has not registered with a service in dev mode.
 *  @param address of the service; undefined: it is not in dev mode */
export function notRegisteredHint(address: string | undefined, dialect: Dialect | undefined): string {
  if (address === undefined) return '';
  return `. This service is in dev mode at ${address}: if the app is in production mode, or looks for a service elsewhere, ${startInDevMode(address, dialect)}`;
}

/** Says that the app's mode differs from the service's, and what to do. */
export function otherKindProblem(expected: string, kind: 'dev' | 'cloud', address: string, dialect: Dialect): string {
  const variable = VARIABLES[dialect];
  const what = `the app expects a service of kind "${expected}", this one is "${kind}"`;
  if (kind === 'dev') return `${what}: the app is in production mode; ${startInDevMode(address, dialect)}`;
  return `${what}: the app is in dev mode; unset its ${variable}, and give it ${variable.replace('DEV', 'BASE_URL')} and ${variable.replace('DEV', 'SIGNING_KEY')}`;
}
