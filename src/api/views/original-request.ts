/** The API's representation of a logged request as it was received, for programs that forward it. Signatures are shown:
 *  each proves only this one request. Passwords and tokens are hidden: they would let the reader make other requests. */
import { z } from 'zod';
import { LOG_OUTCOMES, type LoggedRequest } from '../../model/webhooks/request-log.ts';
import { presetOf } from '../../providers/catalog.ts';
import {
  type CredentialNames,
  credentialLocations,
  mayBeSecret,
  namesOf,
  sendsSecret,
} from '../../providers/credential-locations.ts';
import type { VerificationScheme } from '../../providers/preset.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import { apiObject } from '../http/validation.ts';
import { MASK, maskedHeaders, maskedSearch } from '../receive/stored-credentials.ts';
import { loggedSchema, presentLogged } from './request.ts';

export const originalRequestSchema = apiObject('OriginalRequest', {
  ...loggedSchema.pick({ id: true, received_at: true, method: true, rerun_of: true, verification: true }).shape,
  outcome: z.enum(LOG_OUTCOMES),
  query_string: z.string().describe('As received, without the question mark'),
  headers: z
    .array(z.tuple([z.string(), z.string()]))
    .describe('Names in lower case, with their values; a name may occur several times'),
  body: z.base64().nullable().describe('In base64; null: the body was not read completely and is not stored'),
  withheld: z
    .array(z.string())
    .describe(`Headers and query parameters that contain a password, a token or a cookie; their value is ${MASK}`),
});

export function presentOriginal(
  { summary, headers, search, body }: LoggedRequest,
  webhook: Pick<Webhook, 'verification' | 'provider'>,
) {
  const { id, received_at, method, rerun_of, verification, outcome } = presentLogged(summary);
  const isWithheld = withheldBy(webhook);
  const names: CredentialNames = {
    headers: new Set(Object.keys(headers).filter(isWithheld('headers'))),
    parameters: new Set([...new URLSearchParams(search).keys()].filter(isWithheld('parameters'))),
  };
  const shown = Object.entries(maskedHeaders(headers, names)).flatMap(([name, value = '']) =>
    [value].flat().map((item): [string, string] => [name, item]),
  );
  return {
    ...{ id, received_at, method, rerun_of, verification, outcome },
    query_string: maskedSearch(search.replace(/^\?/, ''), names),
    headers: shown,
    body: body?.toString('base64') ?? null,
    withheld: [...names.headers, ...names.parameters],
  };
}

/** The webhook's own scheme takes precedence: one provider sends a signature in a header in which another sends a token. */
function withheldBy({ verification, provider }: Pick<Webhook, 'verification' | 'provider'>) {
  const scheme: VerificationScheme | null | undefined = verification ?? presetOf(provider ?? '')?.verification;
  const own = namesOf(scheme ? credentialLocations(scheme) : []);
  const ownIsSecret = scheme ? sendsSecret(scheme) : false;
  return (kind: keyof CredentialNames) => (name: string) => {
    if (own[kind].has(name)) return ownIsSecret;
    return mayBeSecret(kind, name);
  };
}
