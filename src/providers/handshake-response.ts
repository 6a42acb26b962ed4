/** Fills in the response of a handshake from the request. Echoed values come from anyone, so they are bounded, and never become code or an
 *  additional header. */
import { createHmac, createSecretKey } from 'node:crypto';
import { type Handshake, type Location, locationSchema, type Preset } from './preset.ts';
import type { ProviderRequest } from './provider-request.ts';
import { keyOf } from './verification/schemes/hmac.ts';
import { type Failure, failed, type Verifier } from './verification/verification.ts';

/** Maximum length of an echoed value. */
const ECHO_MAX = 2_048;

const PLACEHOLDER = /\{([^{}]{1,250})\}/g;
const HMAC = /^hmac:(sha1|sha256|sha384|sha512):(hex|base64|base64url):(.+)$/;

/** Tokens that are signed. Anybody who knows the URL can choose them, so a request whose body is such a token never verifies
 *  (withoutTokens). */
const PLAIN_TOKEN = /^[\w.~+/=-]{1,256}$/;
const TOKEN_MAX_BYTES = 256;
const HEADER_VALUE = /^[\x20-\x7e]*$/;

type Lookup = (placeholder: string) => string | undefined;

/** undefined if the request has nothing to echo. */
export function responseTexts(
  { type, body, headers = {} }: Handshake['response'],
  preset: Preset,
  request: ProviderRequest,
  secret: string | undefined,
): { body: string; headers: Record<string, string> } | Failure | undefined {
  const templates = [...(typeof body === 'string' ? [body] : Object.values(body)), ...Object.values(headers)];
  if (secret === undefined && templates.some((text) => String(text).includes('{hmac:'))) {
    return failed('secret_missing', 'the webhook has no secret to answer with; save it first');
  }
  const lookup: Lookup = (placeholder) => echoOf(placeholder, preset, request, secret);
  const made = typeof body === 'string' ? filled(body, lookup) : filledEach(body, lookup);
  const fields = filledEach(headers, lookup);
  if (made === undefined || fields === undefined) return undefined;
  const safe = Object.entries(fields as Record<string, string>).map(([name, value]) => [name.toLowerCase(), value]);
  if (!safe.every(([, value]) => HEADER_VALUE.test(value as string))) return undefined;
  return { body: type === 'application/json' ? JSON.stringify(made) : String(made), headers: Object.fromEntries(safe) };
}

/** Rejects plain tokens for presets that sign anybody's tokens: a token such as `name=ada` would otherwise be a signed form. Providers
 *  send longer bodies, or JSON. */
export function withoutTokens({ handshakes }: Pick<Preset, 'handshakes'>, verifier: Verifier): Verifier {
  const signsForAnybody = handshakes.some(
    (handshake) => !handshake.verified && JSON.stringify(handshake.response).includes('{hmac:'),
  );
  if (!signsForAnybody) return verifier;
  return (request, options) => {
    const { body } = request;
    const isToken = body.length === 0 || (body.length <= TOKEN_MAX_BYTES && PLAIN_TOKEN.test(body.toString('latin1')));
    return isToken
      ? failed('body_malformed', 'the body is a plain token, not JSON of the provider')
      : verifier(request, options);
  };
}

/** Unknown placeholders of a template; a preset must have none. */
export function unknownPlaceholders(template: string): string[] {
  const names = [...template.matchAll(PLACEHOLDER)].map(([, name]) => name as string);
  return names.filter((name) => !isLocation(HMAC.exec(name)?.[3] ?? name));
}

function filledEach(
  templates: Record<string, string | number>,
  lookup: Lookup,
): Record<string, string | number> | undefined {
  const result: Record<string, string | number> = {};
  for (const [name, template] of Object.entries(templates)) {
    const value = typeof template === 'string' ? filled(template, lookup) : template;
    if (value === undefined) return undefined;
    result[name] = value;
  }
  return result;
}

function filled(template: string, lookup: Lookup): string | undefined {
  let isComplete = true;
  const text = template.replace(PLACEHOLDER, (_, placeholder: string) => {
    const value = lookup(placeholder);
    isComplete &&= value !== undefined;
    return value ?? '';
  });
  return isComplete ? text : undefined;
}

function echoOf(
  placeholder: string,
  preset: Preset,
  request: ProviderRequest,
  secret: string | undefined,
): string | undefined {
  const [, algorithm, encoding, location = placeholder] = HMAC.exec(placeholder) ?? [];
  const value = isLocation(location) ? request.valueAt(location) : undefined;
  if (!value || value.length > ECHO_MAX) return undefined;
  if (algorithm === undefined) return value;
  if (secret === undefined || !PLAIN_TOKEN.test(value)) return undefined;
  const { verification } = preset;
  const key = verification?.scheme === 'hmac' ? keyOf(secret, verification.key) : createSecretKey(Buffer.from(secret));
  return createHmac(algorithm, key)
    .update(value)
    .digest(encoding as 'hex' | 'base64' | 'base64url');
}

function isLocation(text: string): text is Location {
  return locationSchema.safeParse(text).success;
}
