/** User input about how a webhook handles requests, and its validation. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { invalidField, type ServiceError } from '../../errors.ts';
import { compileOrder } from '../../model/expressions/expression.ts';
import { newId } from '../../model/ids.ts';
import { closestName } from '../../model/values/closest-name.ts';
import { durationMs } from '../../model/values/duration.ts';
import { describe, isJsonObject } from '../../model/values/json.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import { LARGE_BODY_MAX_BYTES, LARGE_BODY_MAX_FIELDS } from '../../model/webhooks/large-bodies.ts';
import type { WebhookOrder } from '../../model/webhooks/webhook-order.ts';
import { PRESETS, presetOf } from '../../providers/catalog.ts';
import { customVerificationSchema, METHODS, type Preset, type VerificationScheme } from '../../providers/preset.ts';
import { accountProblem } from '../../providers/sent-requests.ts';
import { createVerifier } from '../../providers/verification/verifier.ts';
import { EVENT_LIMIT_MAX_BYTES } from '../../store/environments/event-limits.ts';
import type { Reconciliation, StoredSecret, Webhook } from '../../store/webhooks/webhook.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import { checkExpression, checkFilter } from '../receive/check-filter.ts';

const SETTINGS_MAX = 5;
const FIELD_PATH = /^[^.]+(?:\.[^.]+)*$/;
/** During a rotation a webhook has two secrets. */
export const SECRETS_MAX = 2;

export const filterSchema = z.string().min(1).max(4_096);

/** White space around a pasted secret is removed. */
export const secretSchema = z
  .string()
  .trim()
  .min(1)
  .max(4_096)
  .describe('White space at the beginning and end is removed');

const accountSchema = z
  .record(z.string().max(30), z.string().max(250))
  .refine((fields) => Object.keys(fields).length <= SETTINGS_MAX, `at most ${SETTINGS_MAX} fields`)
  .meta({
    description: 'Which list of the provider: `sent_list` of `GET /v1/providers/:id` has the fields',
    example: { endpoint: 'we_1Mr5jULkdIwHu7ix1ibLTM0x' },
  });

const windowSchema = z
  .string()
  .max(20)
  .transform((text) => durationMs(text) ?? Number.NaN)
  .refine((ms) => ms >= 0 && ms <= HOUR_MS, 'a time string from 0s to 1h, such as "10s"');

/** null removes; an omitted field stays unchanged. */
export const handlingFields = {
  provider: z.string().max(40).nullish().meta({
    description: 'ID of a provider (`GET /v1/providers`); null: requests are not verified',
    example: 'stripe',
  }),
  secrets: z
    .array(secretSchema)
    .max(SECRETS_MAX)
    .optional()
    .describe(
      'Secrets with which the provider authenticates, newest first; two during a rotation. They are never shown again',
    ),
  verify: z
    .boolean()
    .optional()
    .describe(
      'false: requests are accepted without verification. Default: true. A webhook that verifies but has no secret rejects all requests',
    ),
  verification: customVerificationSchema.nullish().describe('How a generic provider (`hmac`, `api-key`, `jwt`) signs'),
  settings: z
    .preprocess(
      (given, context) => {
        // Counted first: validating a field takes a microsecond.
        if (!isJsonObject(given) || Object.keys(given).length <= SETTINGS_MAX) return given;
        context.addIssue({ code: 'custom', message: `expected at most ${SETTINGS_MAX} settings` });
        return z.NEVER;
      },
      z.record(z.string().max(50), z.string().max(500)),
    )
    .optional()
    .describe("The provider's settings, by name"),
  filter: filterSchema.nullish().meta({
    description:
      'CEL expression over `method`, `headers` (names in lower case), `query` and `body`. Requests that do not meet it make no event. null: no filter',
    example: 'body.type.startsWith("invoice.")',
  }),
  methods: z
    .array(z.enum(METHODS))
    .min(1)
    .max(METHODS.length)
    .nullish()
    .describe("HTTP methods to accept. Default: the provider's, or POST"),
  deduplicate: z
    .boolean()
    .optional()
    .describe(
      "true (default): an event without an `id` from the transform gets the provider's ID of the event or delivery, so that the provider's retries count once. false: it gets no `id`",
    ),
  max_body_bytes: z
    .int()
    .min(1)
    .max(EVENT_LIMIT_MAX_BYTES)
    .nullish()
    .describe("Largest request body in bytes, below the environment's limit; null: the environment's limit applies"),
  reconciliation: z
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
    .describe('Access to the list of what the provider sent. What is omitted stays as it is; null: no reconciliation'),
  large_bodies: z
    .strictObject({
      max_bytes: z.int().min(1).max(LARGE_BODY_MAX_BYTES),
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
  order: z
    .strictObject({
      key: filterSchema,
      by: filterSchema.nullish(),
      window: windowSchema.default(0),
      on_stale: z.enum(['run', 'skip']).default('run'),
      on_failure: z.enum(['skip', 'block', 'park']).default('skip'),
    })
    .nullish()
    .meta({
      description:
        'The events of each value of `key` run one after another, in the order of `by`, in each function that has no order of its own. Both are CEL over `event`, which the transform made, and `request` (`method`, `headers`, `query`, `body`). null: they do not wait for each other',
      example: { key: 'event.data.object.id', by: 'event.ts', window: '5s', on_stale: 'skip' },
    }),
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

/** @param before of the webhook; empty for a new one
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
  if (input.order) checkOrder(input.order);
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

/** @throws ServiceError input_invalid, naming the field */
function checkOrder({ key, by }: NonNullable<HandlingInput['order']>): void {
  checkExpression(key, 'order.key', compileOrder);
  if (by) checkExpression(by, 'order.by', compileOrder);
}

function orderOf({ key, by, window, on_stale, on_failure }: NonNullable<HandlingInput['order']>): WebhookOrder {
  return { key, ...(by && { by }), windowMs: window, onStale: on_stale, onFailure: on_failure };
}

/** @throws ServiceError input_invalid */
function reconciliationOf(
  id: string,
  given: HandlingInput['reconciliation'],
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

export function sealed(webhookId: string, secrets: readonly string[], webhooks: Webhooks): StoredSecret[] {
  return secrets.map((secret) => {
    const id = newId();
    return { id, sealed: webhooks.seal(webhookId, id, secret), addedAt: Date.now() };
  });
}

/** @param field of the input
 *  @throws ServiceError input_invalid when a text is not a secret of the provider; the message never contains the text */
export function checkSecrets(
  scheme: VerificationScheme,
  secrets: readonly string[],
  preset: Preset | undefined,
  settings: Readonly<Record<string, string>> = {},
  field = 'secrets',
): void {
  const { pattern, label = 'secret', example } = preset?.secret ?? {};
  const other = pattern === undefined ? undefined : secrets.find((secret) => !new RegExp(pattern).test(secret));
  if (other !== undefined) {
    const got = `${other.length} characters that are no such secret`;
    throw invalid(field, got, `the ${label} of ${preset?.name}${example ? `, such as ${example}` : ''}`);
  }
  try {
    createVerifier(scheme, secrets, settings);
  } catch (error) {
    throw invalid(field, 'another text', `a secret for the scheme "${scheme.scheme}": ${(error as Error).message}`);
  }
}

/** A changed scheme must not make the webhook reject everything. */
function checkKept(
  id: string,
  scheme: VerificationScheme,
  kept: readonly StoredSecret[],
  { verification, settings: changed }: HandlingInput,
  settings: Readonly<Record<string, string>> | undefined,
  webhooks: Webhooks,
): void {
  if (verification === undefined && changed === undefined) return;
  const opened = webhooks.open(id, kept);
  if (!opened) return;
  try {
    createVerifier(scheme, opened, settings);
  } catch (error) {
    const field = verification === undefined ? 'settings' : 'verification';
    throw invalid(field, 'a change that the present secrets do not fit', `new "secrets": ${(error as Error).message}`);
  }
}

function checkPreset(
  { name, verification, customScheme, settings: known }: Preset,
  input: HandlingInput,
  custom: VerificationScheme | undefined,
  settings: Readonly<Record<string, string>> = {},
): void {
  if (verification && input.verification) {
    throw invalid('verification', 'one', `none: the provider ${name} has its own; only generic providers take one`);
  }
  if (!verification && custom?.scheme !== customScheme) {
    const got = custom ? `the scheme "${custom.scheme}"` : 'nothing';
    throw invalid('verification', got, `{"scheme": "${customScheme}", …}: how the provider signs`);
  }
  for (const given of Object.keys(settings)) {
    if (known.some((setting) => setting.name === given)) continue;
    const names = known.map((setting) => `"${setting.name}"`).join(', ');
    throw invalid(`settings.${given}`, 'an unknown setting', names === '' ? `none: ${name} has no settings` : names);
  }
  for (const { name: needed, description } of known.filter(({ required }) => required)) {
    if (!settings[needed]) throw invalid(`settings.${needed}`, describe(settings[needed]), description);
  }
}

/** Without a provider nothing reads these fields. */
function rejectWithoutProvider({ secrets = [], verification, settings = {} }: HandlingInput): void {
  const given = Object.entries({ secrets: secrets.length, verification, settings: Object.keys(settings).length });
  const [field] = given.find(([, value]) => value) ?? [];
  if (field) throw invalid(field, 'one', 'none for a webhook without a provider; set "provider" too');
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

function invalid(field: string, got: string, expected: string): ServiceError {
  return invalidField(field, `got ${got}; expected ${expected}`);
}
