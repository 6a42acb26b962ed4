/** Asks an app to register (docs/protocol.md#registration): in production in its response (in-band), otherwise by a request of its own. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ParsedUrlQuery } from 'node:querystring';
import type { Dispatcher } from 'undici';
import { ServiceError } from '../errors.ts';
import type { Dialect } from '../model/apps/app.ts';
import { machineTime } from '../model/values/clock.ts';
import { canonical } from './canonical-json.ts';
import { dialectOf, IN_BAND, inBandSyncHeaders, readHeader, whatIfHeaders } from './headers.ts';
import { AddressBlocked, readText } from './http-agent.ts';
import { type InBandRegistration, inBandRegistration } from './in-band-registration.ts';
import { requestFollowing } from './redirects.ts';

/** Time limit for an app to register. */
export const SYNC_REQUEST_TIMEOUT_MS = 10_000;
const REPEATED_PARAMETER = 'deployId';
const WHAT_IF_PREFIX = 'what-if-';
/** Maximum size of a response without a registration. */
const RESPONSE_MAX_BYTES = 65_536;
/** Maximum length of the quoted part of a response. */
const BODY_CHARS = 500;

/** `text`: beginning of the response of an app that registered by its own request, or claims to have. */
export type SyncResponse = { registration: InBandRegistration } | { text: string; dialect: Dialect };

export interface SyncRequest {
  url: string;
  agent: Dispatcher;
  /** undefined in dev mode: the request is unsigned, and the app registers by its own request. */
  signingKey: string | undefined;
  registrationMaxBytes: number;
  /** For a what-if, of this ID: the request says so, and a registration that the app sends repeats it. */
  whatIf?: { id: string; dialect: Dialect };
  /** Appended to the problem of an app that answers without registering. */
  hint: (dialect: Dialect | undefined) => string;
}

/** @throws ServiceError app_unreachable, address_blocked */
export async function requestSync({
  url,
  agent,
  signingKey,
  registrationMaxBytes,
  whatIf,
  hint,
}: SyncRequest): Promise<SyncResponse> {
  const unreachable = (detail: string, cause?: unknown) =>
    new ServiceError('app_unreachable', { detail: `PUT ${url}: ${detail}`, cause });
  try {
    const signal = AbortSignal.timeout(SYNC_REQUEST_TIMEOUT_MS);
    const options = { method: 'PUT', dispatcher: agent, signal, ...inBandRequest(url, signingKey, whatIf) } as const;
    const { headers, statusCode, body } = await requestFollowing(whatIf ? markedUrl(url, whatIf) : url, options);
    const hasRegistration =
      statusCode === 200 && signingKey !== undefined && readHeader(headers, 'sync-kind') === IN_BAND;
    const text = await readText(body, hasRegistration ? registrationMaxBytes : RESPONSE_MAX_BYTES);
    const dialect = dialectOf(headers);
    if (!dialect) {
      // Response of the official TypeScript SDK without keys.
      const failed = statusCode >= 500 ? `. It says: ${text.slice(0, BODY_CHARS)}${hint(undefined)}` : '';
      throw unreachable(
        `the response (status ${statusCode}) has no sdk header; check that this is an app's URL${failed}`,
      );
    }
    if (statusCode !== 200) throw unreachable(`status ${statusCode}: ${text.slice(0, BODY_CHARS)}${hint(dialect)}`);
    if (!hasRegistration) return { text: text.slice(0, BODY_CHARS), dialect };
    const signature = readHeader(headers, 'signature');
    return { registration: inBandRegistration(text, { signature, dialect, signingKey, nowMs: machineTime() }) };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { message } = error as Error;
    throw error instanceof AddressBlocked
      ? new ServiceError('address_blocked', { detail: message })
      : unreachable(message, error);
  }
}

/** Official SDKs repeat no header of the request, but this parameter. */
function markedUrl(url: string, { id, dialect }: { id: string; dialect: Dialect }): string {
  if (dialect !== 'inngest') return url;
  const marked = new URL(url);
  marked.searchParams.set(REPEATED_PARAMETER, WHAT_IF_PREFIX + id);
  return marked.href;
}

/** The ID of the what-if that asked for this registration. */
export function askedByWhatIf(headers: IncomingHttpHeaders, query: ParsedUrlQuery): string | undefined {
  const { [REPEATED_PARAMETER]: repeated } = query;
  const byParameter = typeof repeated === 'string' && repeated.startsWith(WHAT_IF_PREFIX);
  return byParameter ? repeated.slice(WHAT_IF_PREFIX.length) : readHeader(headers, 'what-if');
}

function inBandRequest(url: string, signingKey: string | undefined, whatIf: SyncRequest['whatIf']) {
  const marked = whatIf ? whatIfHeaders(whatIf.id) : {};
  if (signingKey === undefined) return { headers: marked };
  const body = canonical({ url });
  const headers = { 'content-type': 'application/json', ...marked, ...inBandSyncHeaders(url, body, signingKey) };
  return { body, headers };
}
