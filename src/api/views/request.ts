/** The API's representation of a logged webhook request, with secrets masked. */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import {
  LOG_OUTCOMES,
  type LoggedRequest,
  type LogSummary,
  VERIFICATION_RESULTS,
} from '../../model/webhooks/request-log.ts';
import {
  CREDENTIAL_NAMES,
  type CredentialNames,
  credentialLocations,
  namesOf,
  SECRET,
} from '../../providers/credential-locations.ts';
import type { VerificationScheme } from '../../providers/preset.ts';
import { listsOf } from '../http/urlencoded.ts';
import { apiObject, textOrNull, wholeOrNull } from '../http/validation.ts';
import { MASK } from '../receive/stored-credentials.ts';
import { omittedField } from './incomplete.ts';
import { present } from './present.ts';

export const loggedSchema = apiObject('LoggedRequest', {
  id: z.string().describe('Request ID, also in the `x-request-id` of the response'),
  received_at: z.iso.datetime(),
  method: z.string(),
  ip: z.string(),
  outcome: z
    .enum(LOG_OUTCOMES)
    .describe(
      'accepted: the request became an event; ignored: the transform returned no event; filtered: the filter or the list of event names dropped it; held: the event is on the holding page; handshake: the provider proved the URL; rejected: the response was an error',
    ),
  status: z.int().describe('HTTP status of the response'),
  reason: textOrNull.describe('Error code, or why the event was filtered or held'),
  message: textOrNull,
  event_name: textOrNull,
  ids: z.array(z.string()).describe('Internal ID of the event'),
  console: z.array(z.object({ level: z.string(), text: z.string() })),
  duration_ms: z.number(),
  body_bytes: wholeOrNull.describe('null: the body was not read completely and is not stored'),
  rerun_of: textOrNull.describe('The logged request of which this is a re-run'),
  recovered: z
    .boolean()
    .describe("true: it did not come, and was fetched from the provider's list of what it sent; `ip` is then empty"),
  version: wholeOrNull.describe('Version of the webhook that handled it; null: from before versions'),
  verification: z
    .object({
      result: z.enum(VERIFICATION_RESULTS),
      reason: textOrNull.describe('Which part did not match; null: verified or skipped'),
      secret_id: textOrNull.describe('ID of the secret that matched'),
    })
    .nullable()
    .describe('skipped: `verify` was false; null: the webhook had no provider'),
});

export const listedRequestSchema = loggedSchema
  .partial({ console: true, message: true })
  .extend(omittedField)
  .meta({ id: 'ListedRequest' });

export const loggedRequestDetailsSchema = loggedSchema
  .extend({
    headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).describe('Secret values are masked'),
    query: z.record(z.string(), z.array(z.string())),
    body: z
      .object({ encoding: z.enum(['utf8', 'base64']), content: z.string() })
      .nullable()
      .describe('The unchanged body; base64 when it is not UTF-8'),
    body_path: textOrNull.describe('Path of a large body, which is not in `body`'),
  })
  .meta({ id: 'LoggedRequestDetails' });

export function presentLogged(summary: LogSummary) {
  return present(loggedSchema, summary, { recovered: summary.recovered === true });
}

/** @param verification the verification of the webhook, if it has its own scheme */
export function presentDetails(
  webhookId: string,
  { summary, headers, search, body }: LoggedRequest,
  verification?: VerificationScheme,
) {
  const { id, storedBody } = summary;
  const own = namesOf(verification ? credentialLocations(verification) : []);
  const isHidden = (kind: keyof CredentialNames) => (name: string) =>
    SECRET.test(name) || CREDENTIAL_NAMES[kind].has(name) || own[kind].has(name);
  return {
    ...presentLogged(summary),
    headers: masked(Object.entries(headers), isHidden('headers'), () => MASK),
    query: masked(queryOf(search), isHidden('parameters'), (values) => (values as string[]).map(() => MASK)),
    body: body ? presentBody(body) : null,
    body_path: storedBody === undefined ? null : `/v1/webhooks/${webhookId}/requests/${id}/body`,
  };
}

function presentBody(body: Buffer) {
  return isUtf8(body)
    ? { encoding: 'utf8', content: body.toString('utf8') }
    : { encoding: 'base64', content: body.toString('base64') };
}

function masked<T>(
  entries: Iterable<readonly [string, T]>,
  isHidden: (name: string) => boolean,
  mask: (value: T) => unknown,
): Record<string, unknown> {
  return Object.fromEntries([...entries].map(([name, value]) => [name, isHidden(name) ? mask(value) : value]));
}

function queryOf(search: string): [string, string[]][] {
  return Object.entries(listsOf(new URLSearchParams(search)));
}
