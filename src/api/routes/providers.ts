/** `/v1/providers`: the presets of providers whose webhooks the service verifies. */
import { z } from 'zod';
import { orNotFound } from '../../errors.ts';
import { PRESETS, presetOf } from '../../providers/catalog.ts';
import { METHODS, type Preset, verificationSchema } from '../../providers/preset.ts';
import type { SentList } from '../../providers/sent-list.ts';
import { apiObject, textOrNull } from '../http/validation.ts';
import { countedReply, countPosition, longPageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';

const providerFields = {
  id: z.string().meta({ description: 'Value for the field `provider` of a webhook', example: 'stripe' }),
  name: z.string(),
  kind: z.enum(['provider', 'generic']).describe('generic: a verification scheme that many providers share'),
  docs: z.url().describe('The page on which the provider describes its signatures'),
  scheme: z
    .string()
    .meta({ description: 'How requests are verified', examples: ['hmac', 'token', 'basic', 'public-key', 'jwt'] }),
  event_name: z.string().meta({ description: 'How the default transform names events', example: 'stripe/{body:type}' }),
  secret: z.object({
    label: z.string().describe("The provider's name for the secret"),
    where: z.string().describe('Where to find the secret'),
    example: textOrNull,
    pattern: textOrNull.describe('Regular expression of secrets'),
    needed: z.boolean().describe('false: requests are verified by a public certificate, without a secret'),
  }),
};

export const providerSchema = apiObject('Provider', providerFields);

export const providerDetailsSchema = apiObject('ProviderDetails', {
  ...providerFields,
  verification: verificationSchema.nullable().describe('null: each webhook sets it'),
  custom_scheme: z.enum(['hmac', 'token', 'jwt']).nullable(),
  settings: z.array(z.object({ name: z.string(), label: z.string(), description: z.string(), required: z.boolean() })),
  methods: z.array(z.enum(METHODS)),
  event_id: textOrNull.describe('Location of the deduplication ID'),
  delivery_id: textOrNull,
  has_handshake: z
    .boolean()
    .describe('Whether the service responds to the requests with which the provider checks the URL'),
  setup: z.array(z.string()).describe('Setup steps at the provider; `{url}` is the URL of the webhook'),
  transform: z.string().describe('The default transform'),
  sent_list: z
    .object({
      docs: z.url(),
      kept_days: z.int().describe('How long the provider keeps the list'),
      key: z.object({ label: z.string(), where: z.string() }),
      account: z.array(z.object({ name: z.string(), label: z.string(), description: z.string() })),
    })
    .nullable()
    .describe('The list of what the provider sent, for the `reconciliation` of a webhook; null: none is known'),
  order: z
    .object({ key: z.string(), by: z.string(), docs: z.url() })
    .nullable()
    .describe('`key` and `by` for the `order` of a webhook; null: its requests do not say'),
  sample: z.object({
    headers: z.record(z.string(), z.string()),
    query: z.string(),
    body: z.string(),
    event_name: z.string(),
  }),
});

const routes = routesOf({ tag: 'Webhooks', scope: 'any-environment' });

export function providerRoutes(): Route[] {
  return [
    routes.get('/v1/providers', {
      operationId: 'listProviders',
      summary: 'List providers',
      description: 'Providers with a preset by name, then generic providers.',
      query: z.object(longPageQuery(countPosition)),
      data: z.array(providerSchema),
      async handle({ query }) {
        return countedReply(PRESETS, query, (preset) => present(providerSchema, preset, { scheme: schemeOf(preset) }));
      },
    }),
    routes.get('/v1/providers/:id', {
      operationId: 'getProvider',
      summary: 'Get a provider with its settings, default transform and sample',
      data: providerDetailsSchema,
      async handle({ params: { id } }) {
        const preset = orNotFound(presetOf(id), 'provider', id);
        return { data: presentDetails(preset) };
      },
    }),
  ];
}

function schemeOf({ verification, customScheme }: Preset): string {
  return verification?.scheme ?? (customScheme as string);
}

function presentDetails(preset: Preset) {
  const { verification, settings, handshakes, sample, sent } = preset;
  return present(providerDetailsSchema, preset, {
    scheme: schemeOf(preset),
    verification,
    settings: [...settings],
    has_handshake: handshakes.length > 0,
    order: preset.order ?? null,
    sent_list: sent && !('none' in sent) ? presentList(sent) : null,
    sample: {
      headers: sample.headers,
      query: sample.query,
      body: typeof sample.body === 'string' ? sample.body : JSON.stringify(sample.body, null, 2),
      event_name: sample.eventName,
    },
  });
}

function presentList({ docs, keptDays, key: { label, where }, account }: SentList) {
  const fields = account.map(({ name, label, description }) => ({ name, label, description }));
  return { docs, kept_days: keptDays, key: { label, where }, account: fields };
}
