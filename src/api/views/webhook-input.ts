/** User input about how a webhook handles requests, and its validation. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import { compileOrder } from '../../model/expressions/expression.ts';
import { closestName } from '../../model/values/closest-name.ts';
import { describe } from '../../model/values/json.ts';
import { durationMs, HOUR_MS } from '../../model/values/time.ts';
import { LARGE_BODY_MAX_BYTES, LARGE_BODY_MAX_FIELDS } from '../../model/webhooks/large-bodies.ts';
import type { WebhookOrder } from '../../model/webhooks/webhook-order.ts';
import { PRESETS, presetOf } from '../../providers/catalog.ts';
import { METHODS, type Preset, type VerificationScheme } from '../../providers/preset.ts';
import { accountProblem } from '../../providers/sent-requests.ts';
import { EVENT_LIMIT_MAX_BYTES } from '../../store/environments/event-limits.ts';
import type { Reconciliation, Webhook } from '../../store/webhooks/webhook.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import { listUpTo, wholeBetween } from '../http/validation.ts';
import { checkExpression, checkFilter } from '../receive/check-filter.ts';
import { expressionSchema } from './expression.ts';
import {
  checkKept,
  checkPreset,
  checkSecrets,
  invalid,
  rejectWithoutProvider,
  sealed,
  secretSchema,
  verificationFields,
} from './webhook-verification-input.ts';

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

const windowSchema = z
  .string()
  .max(20)
  .transform((text) => durationMs(text) ?? Number.NaN)
  .refine((ms) => ms >= 0 && ms <= HOUR_MS, 'a time string from 0s to 1h, such as "10s"');

export const orderSchema = z
  .strictObject({
    key: expressionSchema,
    by: expressionSchema.nullish(),
    window: windowSchema.default(0),
    on_stale: z.enum(['run', 'skip']).default('run'),
    on_failure: z.enum(['skip', 'block', 'park']).default('skip'),
  })
  .nullish()
  .meta({
    description:
      'The events of each value of `key` run one after another, in the order of `by`, in each function that has no order of its own. Both are CEL over `event`, which the transform made, and `request` (`method`, `headers`, `query`, `body`). null: they do not wait for each other',
    example: { key: 'event.data.object.id', by: 'event.ts', window: '5s', on_stale: 'skip' },
  });

type OrderInput = z.output<typeof orderSchema>;

/** @throws ServiceError input_invalid, naming the field */
export function orderOf({ key, by, window, on_stale, on_failure }: NonNullable<OrderInput>): WebhookOrder {
  checkExpression(key, 'order.key', compileOrder);
  if (by) checkExpression(by, 'order.by', compileOrder);
  return { key, ...(by && { by }), windowMs: window, onStale: on_stale, onFailure: on_failure };
}

const FIELD_PATH = /^[^.]+(?:\.[^.]+)*$/;

/** null removes; an omitted field stays unchanged. */
export const handlingFields = {
  ...verificationFields,
  filter: expressionSchema.nullish().meta({
    description:
      'CEL expression over `method`, `headers` (names in lower case), `query` and `body`. Requests that do not meet it make no event. null: no filter',
    example: 'body.type.startsWith("invoice.")',
  }),
  methods: listUpTo(METHODS.length, z.enum(METHODS))
    .nullish()
    .describe("HTTP methods to accept. Default: the provider's, or POST"),
  deduplicate: z
    .boolean()
    .optional()
    .describe(
      "true (default): an event without an `id` from the transform gets the provider's ID of the event or delivery, so that the provider's retries count once. false: it gets no `id`",
    ),
  max_body_bytes: wholeBetween(1, EVENT_LIMIT_MAX_BYTES)
    .nullish()
    .describe("Largest request body in bytes, below the environment's limit; null: the environment's limit applies"),
  reconciliation: reconciliationSchema,
  large_bodies: z
    .strictObject({
      max_bytes: wholeBetween(1, LARGE_BODY_MAX_BYTES),
      fields: z
        .array(z.string().regex(FIELD_PATH, 'names with dots between them; "*" for every item of a list').max(200))
        .max(LARGE_BODY_MAX_FIELDS),
    })
    .nullish()
    .meta({
      description:
        'Bodies above the limit, up to `max_bytes`, are kept in the archive or in a bucket. The transform gets the `fields`, and as `raw` a reference to the body. Needs `DATABASE_URL` or `LARGE_BODIES_BUCKET_URL`. null: they are rejected',
      example: { max_bytes: LARGE_BODY_MAX_BYTES, fields: ['action', 'repository.full_name', 'commits.*.id'] },
    }),
  order: orderSchema,
};

export type HandlingInput = z.output<z.ZodObject<typeof handlingFields>>;

type Handling = Pick<
  Webhook,
  | 'provider'
  | 'secrets'
  | 'verify'
  | 'verification'
  | 'settings'
  | 'filter'
  | 'methods'
  | 'deduplicate'
  | 'maxBodyBytes'
  | 'reconciliation'
  | 'largeBodies'
  | 'order'
>;

/** @param before the former values of the webhook; empty for a new one
 *  @throws ServiceError input_invalid, naming the field */
export function handlingOf(id: string, input: HandlingInput, before: Handling, webhooks: Webhooks): Handling {
  const provider = pick(input.provider, before.provider);
  const preset = provider === undefined ? undefined : existingPreset(provider);
  const isSame = provider === before.provider;
  const verification = pick(
    input.verification as VerificationScheme | null | undefined,
    isSame ? before.verification : undefined,
  );
  const settings = input.settings ?? (isSame ? before.settings : undefined);
  if (input.filter) checkFilter(input.filter);
  if (preset) checkPreset(preset, input, verification, settings);
  else rejectWithoutProvider(input);
  const scheme = verification ?? preset?.verification ?? undefined;
  if (scheme && input.secrets) checkSecrets(scheme, input.secrets, preset, settings);
  const kept = isSame ? before.secrets : undefined;
  if (scheme && !input.secrets && kept) checkKept(id, scheme, kept, input, settings, webhooks);
  return {
    provider,
    verification,
    settings,
    secrets: input.secrets ? sealed(id, input.secrets, webhooks) : kept,
    verify: input.verify ?? before.verify,
    filter: pick(input.filter, before.filter),
    methods: input.methods ? [...new Set(input.methods)] : pick(input.methods, before.methods),
    deduplicate: input.deduplicate ?? before.deduplicate,
    maxBodyBytes: pick(input.max_body_bytes, before.maxBodyBytes),
    reconciliation: reconciliationOf(
      id,
      input.reconciliation,
      isSame ? before.reconciliation : undefined,
      preset,
      webhooks,
    ),
    largeBodies: pick(
      input.large_bodies && { maxBytes: input.large_bodies.max_bytes, fields: input.large_bodies.fields },
      before.largeBodies,
    ),
    order: pick(input.order && orderOf(input.order), before.order),
  };
}

function existingPreset(id: string): Preset {
  const preset = presetOf(id);
  if (preset) return preset;
  const known = PRESETS.map((preset) => preset.id);
  const close = closestName(id, known);
  const hint = close === undefined ? '' : `; did you mean "${close}"?`;
  throw invalid('provider', describe(id), `the ID of a provider, which GET /v1/providers lists${hint}`);
}

/** null: removed; undefined: unchanged. */
function pick<T>(given: T | null | undefined, before: T | undefined): T | undefined {
  return given === undefined ? before : (given ?? undefined);
}
