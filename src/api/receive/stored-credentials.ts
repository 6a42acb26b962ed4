/** Removes secrets that a provider sends along from what the request log stores: whoever reads Redis or the archive could use them. A request that was not
 *  verified keeps them, because a replay has to verify it. Secrets in a body stay: bodies are stored byte for byte. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  type CredentialNames,
  credentialLocations,
  namesOf,
  sendsSecret,
} from '../../providers/credential-locations.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type { LogSummary } from '../../store/webhooks/webhook-log.ts';

export const MASK = '[masked]';

interface Stored {
  headers: IncomingHttpHeaders;
  /** The query string. */
  search: string;
}

/** @param verification of the request, by the webhook as it is now */
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

/** All else stays as it came. */
export function maskedSearch(search: string, { parameters }: CredentialNames): string {
  if (parameters.size === 0 || search === '') return search;
  const fields = search.split('&').map((field) => {
    const [name = ''] = new URLSearchParams(field).keys();
    return parameters.has(name) ? `${encodeURIComponent(name)}=${encodeURIComponent(MASK)}` : field;
  });
  return fields.join('&');
}
