/** User input about the provider's list of sent requests, and its validation. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import type { Preset } from '../../providers/preset.ts';
import { accountProblem } from '../../providers/sent-requests.ts';
import type { Reconciliation } from '../../store/webhooks/webhook.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import { invalid, sealed, secretSchema } from './webhook-verification-input.ts';

const FIELDS_MAX = 5;

const accountSchema = z
  .record(z.string().max(30), z.string().max(250))
  .refine((fields) => Object.keys(fields).length <= FIELDS_MAX, `at most ${FIELDS_MAX} fields`)
  .meta({
    description: 'Which list of the provider: `sent_list` of `GET /v1/providers/:id` has the fields',
    example: { endpoint: 'we_1Mr5jULkdIwHu7ix1ibLTM0x' },
  });

export const reconciliationSchema = z
  .object({
    key: secretSchema.optional().describe("A key that can read the provider's list. It is never shown again"),
    account: accountSchema.optional(),
    api_url: z
      .url({ protocol: /^https?$/ })
      .max(500)
      .optional()
      .describe('In dev mode alone: where a fake of the provider listens'),
  })
  .nullish()
  .describe('Access to the list of what the provider sent. What is omitted stays as it is; null: no reconciliation');

/** @throws ServiceError input_invalid */
export function reconciliationOf(
  id: string,
  given: z.output<typeof reconciliationSchema>,
  before: Reconciliation | undefined,
  preset: Preset | undefined,
  webhooks: Webhooks,
): Reconciliation | undefined {
  if (given === undefined || given === null) return given === null ? undefined : before;
  const field = 'reconciliation';
  const { sent, name = 'a webhook without a provider' } = preset ?? {};
  if (!sent || 'none' in sent) {
    const why = sent ? sent.none : `no list of what ${name} sent is known`;
    throw invalid(field, 'one', `none: ${why}`);
  }
  const { key: text, account = before?.account ?? {}, api_url: api = before?.api } = given;
  const problem = accountProblem(sent, account);
  if (problem) throw invalidField(`${field}.account`, problem);
  if (text !== undefined && sent.key.pattern !== undefined && !new RegExp(sent.key.pattern).test(text)) {
    throw invalid(`${field}.key`, `${text.length} characters that are no such key`, `the ${sent.key.label} of ${name}`);
  }
  const key = text === undefined ? before?.key : sealed(id, [text], webhooks)[0];
  if (!key) throw invalid(`${field}.key`, 'nothing', `the ${sent.key.label} of ${name}: ${sent.key.where}`);
  const isSame = before !== undefined && isDeepStrictEqual(account, before.account);
  return { account, key, api, since: isSame ? before.since : Date.now() };
}
