/** The protocol's headers. Each exists under two prefixes, one per dialect; only this file has the full names (docs/protocol.md#headers). */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from '../model/apps/app.ts';
import { machineTime } from '../model/values/clock.ts';
import { VERSION } from '../version.ts';
import { sign, signUrl } from './signing.ts';

const PREFIXES: Record<Dialect, string> = { service: 'x-service-', inngest: 'x-inngest-' };
const DIALECTS = Object.keys(PREFIXES) as Dialect[];

export type Suffix =
  | 'sdk'
  | 'env'
  | 'signature'
  | 'signature-url'
  | 'req-version'
  | 'no-retry'
  | 'server-kind'
  | 'sync-kind'
  | 'expected-server-kind'
  | 'event-id-seed'
  | 'run-id'
  | 'step-id'
  | 'job-id'
  | 'generation-id'
  | 'app-version'
  | 'force-step-plan'
  | 'what-if';

export function headerName(dialect: Dialect, suffix: Suffix): string {
  return PREFIXES[dialect] + suffix;
}

/** The header's value, under either prefix. */
export function readHeader(headers: IncomingHttpHeaders, suffix: Suffix): string | undefined {
  for (const name of namesOf(suffix)) {
    const value = headers[name];
    if (value !== undefined) return Array.isArray(value) ? value[0] : value;
  }
  return undefined;
}

const names = new Map<Suffix, readonly string[]>();

/** Under both prefixes. */
function namesOf(suffix: Suffix): readonly string[] {
  const known = names.get(suffix);
  if (known) return known;
  const made = DIALECTS.map((dialect) => headerName(dialect, suffix));
  names.set(suffix, made);
  return made;
}

/** The dialect of an app or SDK, from the `sdk` header that it sent; undefined if it sent none. */
export function dialectOf(headers: IncomingHttpHeaders): Dialect | undefined {
  return DIALECTS.find((dialect) => headers[headerName(dialect, 'sdk')] !== undefined);
}

/** Whether any header has the prefix of the dialect. */
export function hasHeaderOf(headers: IncomingHttpHeaders, dialect: Dialect): boolean {
  return Object.keys(headers).some((name) => name.startsWith(PREFIXES[dialect]));
}

/** Names of the headers and query parameters that select a branch environment. */
export const ENV_SELECTORS: readonly string[] = DIALECTS.map((dialect) => headerName(dialect, 'env'));

/** The signature headers of a call. Only Tidegate's own clients check the URL's signature. */
export function signatureHeaders(
  dialect: Dialect,
  url: string,
  body: string,
  signingKey: string | undefined,
): Record<string, string> {
  if (signingKey === undefined) return {};
  const signature = sign(body, signingKey, machineTime());
  return {
    [headerName(dialect, 'signature')]: signature,
    ...(dialect === 'service' && {
      [headerName(dialect, 'signature-url')]: signUrl(url, body, signature, signingKey),
    }),
  };
}

/** Headers of a request to register in the response. The app's dialect is unknown at this point. */
export function inBandSyncHeaders(url: string, body: string, signingKey: string): Record<string, string> {
  const all = DIALECTS.map((dialect) => ({
    [headerName(dialect, 'sdk')]: SERVER_SDK,
    [headerName(dialect, 'server-kind')]: 'cloud',
    [headerName(dialect, 'sync-kind')]: IN_BAND,
    ...signatureHeaders(dialect, url, body, signingKey),
  }));
  return Object.assign({}, ...all);
}

/** Headers of a request for a registration for the what-if with this ID, under both prefixes. */
export function whatIfHeaders(id: string): Record<string, string> {
  return Object.fromEntries(namesOf('what-if').map((name) => [name, id]));
}

/** Value of `sync-kind`: the response has the registration. */
export const IN_BAND = 'in_band';

export const SERVER_SDK = `tidegate:v${VERSION}`;
