/** Removes secrets sent by a provider from requests before they are logged, because anybody who reads Redis or the archive could use
 *  them. Unverified requests keep them, because a replay has to verify them. Bodies are stored byte for byte, including secrets. */
import type { IncomingHttpHeaders } from 'node:http';
import type { LogSummary } from '../../model/webhooks/request-log.ts';
import {
  type CredentialNames,
  credentialLocations,
  namesOf,
  sendsSecret,
} from '../../providers/credential-locations.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';

export const MASK = '[masked]';

interface Stored {
  headers: IncomingHttpHeaders;
  /** The query string. */
  search: string;
}

/** @param verification how the webhook verifies requests now */
export function withoutSecrets(
  { verification: custom, preset }: Pick<WebhookInUse, 'verification' | 'preset'>,
  verification: LogSummary['verification'],
  { headers, search }: Stored,
): Stored {
  const scheme = custom ?? preset?.verification;
  if (verification?.result !== 'verified' || !scheme || !sendsSecret(scheme)) return { headers, search };
  const names = namesOf(credentialLocations(scheme));
  return { headers: maskedHeaders(headers, names), search: maskedSearch(search, names) };
}

export function maskedHeaders(headers: IncomingHttpHeaders, names: CredentialNames): IncomingHttpHeaders {
  const present = [...names.headers].filter((name) => headers[name] !== undefined);
  return { ...headers, ...Object.fromEntries(present.map((name) => [name, MASK])) };
}

/** Masks credentials; everything else is unchanged. */
export function maskedSearch(search: string, { parameters }: CredentialNames): string {
  if (parameters.size === 0 || search === '') return search;
  const fields = search.split('&').map((field) => {
    const [name = ''] = new URLSearchParams(field).keys();
    return parameters.has(name) ? `${encodeURIComponent(name)}=${encodeURIComponent(MASK)}` : field;
  });
  return fields.join('&');
}
