/** Secrets of the configuration, which are written as the names of variables: `{env: STRIPE_WEBHOOK_SECRET}`. */
import type { Json } from '../api-client.ts';
import { usageError } from '../exit-codes.ts';

export type Variables = Record<string, string | undefined>;

export interface Reference {
  env: string;
}

export function isReference(one: unknown): one is Reference {
  if (typeof one !== 'object' || one === null || Object.keys(one).length !== 1) return false;
  const { env } = one as Partial<Reference>;
  return typeof env === 'string' && /^\w+$/.test(env);
}

/** References that the value is, or has at any depth. */
export function referencesIn(value: Json): Reference[] {
  if (isReference(value)) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referencesIn) : [];
}

/** The value with the texts of its references. */
export function withSecrets(value: Json, variables: Variables): Json {
  if (isReference(value)) return variables[value.env];
  if (Array.isArray(value)) return value.map((one) => withSecrets(one, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withSecrets(one, variables)]));
}

interface SecretField {
  /** For people. */
  what: string;
  example: string;
  isByReference(value: Json): boolean;
}

const isListOfReferences = (value: Json) => Array.isArray(value) && value.every(isReference);
const isMapOfReferences = (value: Json) =>
  typeof value === 'object' && value !== null && Object.values(value).every(isReference);

/** Fields that have secrets, by section. */
const SECRET_FIELDS: Record<string, Record<string, SecretField>> = {
  webhooks: {
    secrets: {
      what: 'secrets are',
      example: 'secrets: [{ env: STRIPE_WEBHOOK_SECRET }]',
      isByReference: isListOfReferences,
    },
    reconciliation: {
      what: 'the key of reconciliation is',
      example: 'reconciliation: { account: { endpoint: we_1 }, key: { env: STRIPE_RECONCILIATION_KEY } }',
      isByReference: (value) => isReference(value?.key),
    },
  },
  destinations: {
    headers: {
      what: 'values of headers are',
      example: 'headers: { authorization: { env: CRM_AUTHORIZATION } }',
      isByReference: isMapOfReferences,
    },
  },
  alert_channels: {
    url: { what: 'the url is', example: 'url: { env: OPS_SLACK_URL }', isByReference: isReference },
    key: { what: 'the key is', example: 'key: { env: OPS_PAGERDUTY_KEY }', isByReference: isReference },
  },
};

export function hasSecrets(section: string, field: string): boolean {
  return SECRET_FIELDS[section]?.[field] !== undefined;
}

/** A secret does not belong in git. @throws CliError that does not quote it */
export function checkReferences(section: string, entry: Record<string, Json>, where: string): void {
  for (const [field, { what, example, isByReference }] of Object.entries(SECRET_FIELDS[section] ?? {})) {
    const value = entry[field] ?? null;
    if (value === null || isByReference(value)) continue;
    throw usageError(
      `${where} (${entry.name}): ${what} written by reference, and read from the environment by apply`,
      `For example: ${example}`,
    );
  }
}
