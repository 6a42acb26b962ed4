/** User input about how a webhook verifies requests, and its validation. */
import { z } from 'zod';
import { invalidField, type ServiceError } from '../../errors.ts';
import { newId } from '../../model/ids.ts';
import { describe, isJsonObject } from '../../model/values/json.ts';
import { customVerificationSchema, type Preset, type VerificationScheme } from '../../providers/preset.ts';
import { createVerifier } from '../../providers/verification/verifier.ts';
import type { StoredSecret } from '../../store/webhooks/webhook.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';

const SETTINGS_MAX = 5;
/** During a rotation a webhook has two secrets. */
export const SECRETS_MAX = 2;

/** White space around a pasted secret is removed. */
export const secretSchema = z
  .string()
  .trim()
  .min(1)
  .max(4_096)
  .describe('White space at the beginning and end is removed');

/** null removes; an omitted field stays unchanged. */
export const verificationFields = {
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
        // The fields are counted first, because validating each takes a microsecond.
        if (!isJsonObject(given) || Object.keys(given).length <= SETTINGS_MAX) return given;
        context.addIssue({ code: 'custom', message: `expected at most ${SETTINGS_MAX} settings` });
        return z.NEVER;
      },
      z.record(z.string().max(50), z.string().max(500)),
    )
    .optional()
    .describe("The provider's settings, by name"),
};

type VerificationInput = z.output<z.ZodObject<typeof verificationFields>>;

export function sealed(webhookId: string, secrets: readonly string[], webhooks: Webhooks): StoredSecret[] {
  return secrets.map((secret) => {
    const id = newId();
    return { id, sealed: webhooks.seal(webhookId, id, secret), addedAt: Date.now() };
  });
}

/** @param field field of the input
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
export function checkKept(
  id: string,
  scheme: VerificationScheme,
  kept: readonly StoredSecret[],
  { verification, settings: changed }: VerificationInput,
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

export function checkPreset(
  { name, verification, customScheme, settings: known }: Preset,
  input: VerificationInput,
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
export function rejectWithoutProvider({ secrets = [], verification, settings = {} }: VerificationInput): void {
  const given = Object.entries({ secrets: secrets.length, verification, settings: Object.keys(settings).length });
  const [field] = given.find(([, value]) => value) ?? [];
  if (field) throw invalid(field, 'one', 'none for a webhook without a provider; set "provider" too');
}

export function invalid(field: string, got: string, expected: string): ServiceError {
  return invalidField(field, `got ${got}; expected ${expected}`);
}
