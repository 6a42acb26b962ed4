/** The schema of provider presets. A preset is data: one file in presets/, which the catalog finds automatically. It describes how to verify
 *  requests, the provider's handshakes, and the resulting event (ID, name, transform).
 *
 *  Values in a request have a *location*: `header:<name in lower case>`, `query:<name>`, `body:<path in the JSON body, with dots>`,
 *  `form:<name>`.
 *  Where a token is looked for, `*` in a path stands for every item of a list. */
import { z } from 'zod';
import { noSentListSchema, sentListSchema } from './sent-list.ts';

const LOCATION = /^(header:[a-z0-9-]{1,100}|query:[\w.-]{1,100}|body:[\w.*-]{1,200}|form:[\w.-]{1,100})$/;

/** Cost grows with list items times path fields. */
const PATH_MAX_FIELDS = 10;

export const locationSchema = z
  .string()
  .regex(LOCATION, 'header:<lower case name>, query:<name>, body:<path> or form:<name>')
  .refine((text) => text.split('.').length <= PATH_MAX_FIELDS, `a path of at most ${PATH_MAX_FIELDS} fields`)
  .meta({ examples: ['header:x-signature'] });
export type Location = z.infer<typeof locationSchema>;

/** Text with locations in braces, such as `{body:event}:{body:payload.uri}`. */
const templateSchema = z
  .string()
  .max(300)
  .refine(
    (text) => text.includes('{') && locationsIn(text).every((location) => LOCATION.test(location)),
    'a location, or text with {<location>}',
  );

/** The locations in a template's braces. */
export function locationsIn(template: string): Location[] {
  return Array.from(template.matchAll(/\{([^{}]*)\}/g), ([, name]) => name as Location);
}

/** A value, or one or more values in a list such as `t=1,v1=abc,v1=def`: the items that start with the prefix, without it. */
const fieldSchema = z.strictObject({
  at: locationSchema,
  /** Separator of list items; absent: the whole text is one item. */
  separator: z.string().min(1).max(3).optional(),
  prefix: z.string().min(1).max(50).optional(),
});
export type Field = z.infer<typeof fieldSchema>;

const timestampSchema = fieldSchema.extend({
  unit: z.enum(['s', 'ms', 'iso']),
  /** Maximum difference from the service's clock, in seconds. */
  tolerance: z.int().min(1).max(86_400),
});

export const SIGNATURE_ENCODINGS = ['hex', 'base64', 'base64url'] as const;

/** How the user's secret becomes the key. */
const keySchema = z.strictObject({
  encoding: z.enum(['utf8', 'hex', 'base64']).default('utf8'),
  /** A prefix that is removed if present, such as `whsec_`. */
  prefix: z.string().max(20).optional(),
});

/** The signed text, with `{body}` (raw bytes), `{timestamp}` (as received), `{url}` (as the provider knows it), `{method}`, `{path}` (with the
 *  query string), and `{<location>}`. */
const signedSchema = z
  .string()
  .min(1)
  .max(500)
  // Each occurrence hashes the whole body again, for every secret and URL.
  .refine((text) => text.split('{body}').length <= 2, '{body} at most once');

export const hmacSchema = z.strictObject({
  scheme: z.literal('hmac'),
  algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']),
  encoding: z.enum(SIGNATURE_ENCODINGS),
  signature: fieldSchema,
  signed: signedSchema,
  timestamp: timestampSchema.optional(),
  key: keySchema.prefault({}),
});

/** The request contains the secret itself. */
export const tokenSchema = z.strictObject({ scheme: z.literal('token'), token: fieldSchema });

/** HTTP Basic; the secret is `user:password`. */
const basicSchema = z.strictObject({ scheme: z.literal('basic') });

/** The secret is a public key, pasted in the same field. */
export const publicKeySchema = z.strictObject({
  scheme: z.literal('public-key'),
  algorithm: z.enum(['ed25519', 'ecdsa-p256-sha256', 'rsa-sha256']),
  encoding: z.enum(SIGNATURE_ENCODINGS),
  signature: fieldSchema,
  signed: signedSchema,
  timestamp: timestampSchema.optional(),
  /** `raw`: the bytes of an Ed25519 key; `der`: SubjectPublicKeyInfo; PEM always works. */
  key: z.strictObject({ encoding: z.enum(['hex', 'base64']), format: z.enum(['raw', 'der']) }),
});

export const jwtSchema = z.strictObject({
  scheme: z.literal('jwt'),
  /** The secret is the key of the HMAC, a public key in PEM, or the `https:` URL of a JWK set. */
  token: fieldSchema,
  algorithms: z
    .array(z.enum(['HS256', 'HS384', 'HS512', 'RS256', 'ES256', 'EdDSA']))
    .min(1)
    .max(6),
  issuer: z.string().max(500).optional(),
  audience: z.string().max(500).optional(),
  /** Seconds. */
  tolerance: z.int().min(0).max(86_400).default(60),
});

/** Schemes that are not combinations of the above: each has a file verification/schemes/<name>.ts. */
const SPECIAL_SCHEMES = ['adyen', 'aws-sns', 'braintree', 'paypal', 'twilio'] as const;
const specialSchema = z.strictObject({ scheme: z.enum(SPECIAL_SCHEMES) });

const otherSchemes = [tokenSchema, basicSchema, publicKeySchema, jwtSchema, specialSchema] as const;
export const verificationSchema = z.discriminatedUnion('scheme', [hmacSchema, ...otherSchemes]);
export type VerificationScheme = z.infer<typeof verificationSchema>;

/** Most providers sign the body with HMAC-SHA256 in hexadecimal; their presets leave that out. */
const presetVerificationSchema = z.discriminatedUnion('scheme', [
  hmacSchema.extend({
    algorithm: hmacSchema.shape.algorithm.default('sha256'),
    encoding: hmacSchema.shape.encoding.default('hex'),
    signed: signedSchema.default('{body}'),
  }),
  ...otherSchemes,
]);

/** Fields that users may configure for a generic preset: `POST /v1/webhooks {provider: "hmac", verification: {…}}`. */
export const customVerificationSchema = z.discriminatedUnion('scheme', [
  hmacSchema,
  tokenSchema,
  basicSchema,
  jwtSchema,
]);

const conditionSchema = z.strictObject({
  at: locationSchema,
  /** Absent: any value. */
  equals: z.string().max(200).optional(),
  /** Name of a webhook setting that the value must equal; otherwise the response is 401. */
  setting: z.string().max(50).optional(),
});

/** A request that the service answers by itself: it proves the URL, and makes no event. Texts may have `{<location>}`, and
 *  `{hmac:<algorithm>:<encoding>:<location>}`, an HMAC of the value with the webhook's secret. */
export const handshakeSchema = z
  .strictObject({
    method: z.enum(['GET', 'POST']).default('POST'),
    /** All conditions must be met. */
    when: z.array(conditionSchema).min(1).max(5),
    /** false: the provider does not sign it. */
    verified: z.boolean(),
    response: z.strictObject({
      status: z.int().min(200).max(204).default(200),
      type: z.enum(['text/plain', 'application/json']).default('text/plain'),
      /** JSON: a text or an object of texts. */
      body: z.union([z.string(), z.record(z.string(), z.union([z.string(), z.number()]))]),
      /** Headers of the response. */
      headers: z.record(z.string(), z.string()).optional(),
    }),
    /** Fetches the URL at a location before answering, if its host has one of these suffixes. */
    confirm: z.strictObject({ at: locationSchema, hosts: z.array(z.string()).min(1).max(5) }).optional(),
    /** Message to the user in the request log. */
    note: z.string().max(300).optional(),
  })
  .refine(({ confirm, verified }) => !confirm || verified, 'only a verified request may name a URL to fetch');
export type Handshake = z.infer<typeof handshakeSchema>;

/** Settings of a webhook other than secrets. */
const settingSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z_]{0,49}$/),
  label: z.string().max(60),
  description: z.string().max(300),
  required: z.boolean(),
});

const eventSchema = z.strictObject({ name: z.string(), ts: z.string(), data: z.string() });

function transformOf({ name, ts, data }: z.infer<typeof eventSchema>): string {
  return `function transform(evt) {
  return {
    name: ${name},
    ts: ${ts},
    data: ${data},
  };
}
`;
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export const presetSchema = z.strictObject({
  /** Name of the file. */
  id: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/),
  name: z.string().min(1).max(60),
  /** The provider's page on verification. */
  docs: z.url(),
  /** Generic presets have no provider; some let the user complete the verification. */
  kind: z.enum(['provider', 'generic']).default('provider'),
  /** null: the user configures it (`verification` of the webhook). */
  verification: presetVerificationSchema.nullable(),
  /** The scheme that the user completes, where `verification` is null. */
  customScheme: z.enum(['hmac', 'token', 'jwt']).optional(),
  secret: z.strictObject({
    /** The provider's term for it. */
    label: z.string().max(60),
    /** Says where users find the secret. */
    where: z.string().max(300),
    example: z.string().max(100).optional(),
    /** Pattern of a secret; a text that does not match is rejected. */
    pattern: z.string().max(200).optional(),
    /** false: verification uses a public certificate of the provider instead. */
    needed: z.boolean().default(true),
  }),
  settings: z.array(settingSchema).max(5).default([]),
  methods: z.array(z.enum(METHODS)).min(1).default(['POST']),
  handshakes: z.array(handshakeSchema).max(5).default([]),
  /** How the default transform names events: `stripe/{body:type}`; several forms are separated by `, or `. The transform may tidy values:
   *  lower case, dots for `:` and `/`, without a prefix that ends in a colon (`jira:issue_created`). */
  eventName: z.string().max(200),
  /** Location of the provider's own event ID: the deduplication ID. Several locations if only their combination is unique. */
  eventId: z.union([locationSchema, templateSchema]).optional(),
  /** Location of the delivery ID, which retries repeat: the deduplication ID if there is no event ID. If neither exists, signed content
   *  with a time is used. */
  deliveryId: locationSchema.optional(),
  /** The provider's list of what it sent, or that it has none. Absent: not known. */
  sent: z.union([sentListSchema, noSentListSchema]).optional(),
  /** The subject of a request, and the order of requests about it: `key` and `by` of a webhook's order over
   *  `request`. Absent: the requests do not have them. */
  order: z.strictObject({ key: z.string().max(500), by: z.string().max(500), docs: z.url() }).optional(),
  /** Steps at the provider, click by click; `{url}` is the webhook's URL. */
  setup: z.array(z.string().max(300)).min(1).max(8),
  /** The default transform. Most make one event: their presets have the expressions of its fields. */
  transform: z.union([z.string().min(1).max(65_536), eventSchema.transform(transformOf)]),
  /** A request as the provider sends it, and the event that the default transform makes of it. */
  sample: z.strictObject({
    headers: z.record(z.string(), z.string()),
    query: z.string().max(500).default(''),
    /** An object is sent as JSON. */
    body: z.union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())]),
    eventName: z.string(),
  }),
});
export type Preset = z.infer<typeof presetSchema>;

/** A preset as its file writes it. */
export type PresetInput = z.input<typeof presetSchema>;
