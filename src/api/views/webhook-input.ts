/** User input about how a webhook handles requests, and its validation. */

import { z } from 'zod';
import { closestName } from '../../model/values/closest-name.ts';
import { describe } from '../../model/values/json.ts';
import { LARGE_BODY_MAX_BYTES, LARGE_BODY_MAX_FIELDS } from '../../model/webhooks/large-bodies.ts';
import { PRESETS, presetOf } from '../../providers/catalog.ts';
import { METHODS, type Preset, type VerificationScheme } from '../../providers/preset.ts';
import { EVENT_LIMIT_MAX_BYTES } from '../../store/environments/event-limits.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import { wholeBetween } from '../http/validation.ts';
import { checkFilter } from '../receive/check-filter.ts';
import { expressionSchema } from './expression.ts';
import { orderOf, orderSchema } from './webhook-order-input.ts';
import { reconciliationOf, reconciliationSchema } from './webhook-reconciliation-input.ts';
import {
  checkKept,
  checkPreset,
  checkSecrets,
  invalid,
  rejectWithoutProvider,
  sealed,
  verificationFields,
} from './webhook-verification-input.ts';

const FIELD_PATH = /^[^.]+(?:\.[^.]+)*$/;

/** null removes; an omitted field stays unchanged. */
export const handlingFields = {
  ...verificationFields,
  filter: expressionSchema.nullish().meta({
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
