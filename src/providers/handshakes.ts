/** Responds to handshakes: requests by which a provider checks the URL before it sends any. They make no event. */
import { sameSecret } from '../model/auth/secret.ts';
import { responseTexts } from './handshake-response.ts';
import type { Handshake, Method, Preset } from './preset.ts';
import type { ProviderRequest } from './provider-request.ts';
import { nameOf } from './verification/fields.ts';
import { type Failure, type FetchDocument, failed } from './verification/verification.ts';

export interface HandshakeResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Message to the user in the request log. */
  note: string | undefined;
}

export interface HandshakeOptions {
  /** Whether the request has been verified: handshakes without a signature are tried before, the others after. */
  verified: boolean;
  /** The secret that signs the response comes first. */
  secrets: readonly string[];
  settings: Readonly<Record<string, string>>;
  fetchDocument: FetchDocument;
}

/** undefined if the request is not a handshake of this preset. */
export type RespondToHandshake = (
  preset: Preset,
  request: ProviderRequest,
  options: HandshakeOptions,
) => Promise<HandshakeResponse | Failure | undefined> | undefined;

/** Methods that only the preset's handshakes use. */
export function handshakeMethods({ handshakes }: Preset): Method[] {
  return handshakes.map(({ method }) => method).filter((method) => method !== 'POST');
}

export const respondToHandshake: RespondToHandshake = (preset, request, options) => {
  const handshake = preset.handshakes.find(
    (candidate) => candidate.verified === options.verified && meets(request, candidate),
  );
  return handshake && respond(handshake, preset, request, options);
};

/** Whether the request has all values of the conditions. Conditions that depend on a setting are checked later: a wrong value is an error. */
function meets(request: ProviderRequest, { method, when }: Handshake): boolean {
  if (request.method !== method) return false;
  return when.every(({ at, equals, setting }) => {
    if (setting !== undefined) return true;
    const value = request.valueAt(at);
    return value !== undefined && (equals === undefined || value === equals);
  });
}

async function respond(
  handshake: Handshake,
  preset: Preset,
  request: ProviderRequest,
  { secrets, settings, fetchDocument }: HandshakeOptions,
): Promise<HandshakeResponse | Failure | undefined> {
  const { status, type } = handshake.response;
  const refused = checkSettings(handshake, request, settings);
  if (refused) return refused;
  const texts = responseTexts(handshake.response, preset, request, secrets[0]);
  if (texts === undefined || 'result' in texts) return texts;
  const unconfirmed = handshake.confirm && (await confirmUrl(request, handshake.confirm, fetchDocument));
  if (unconfirmed) return unconfirmed;
  const headers = { ...texts.headers, 'content-type': `${type}; charset=utf-8` };
  return { status, headers, body: texts.body, note: handshake.note };
}

function checkSettings(
  { when }: Handshake,
  request: ProviderRequest,
  settings: Readonly<Record<string, string>>,
): Failure | undefined {
  for (const { at, setting } of when) {
    if (setting === undefined) continue;
    const expected = Object.hasOwn(settings, setting) ? settings[setting] : undefined;
    if (!expected) return failed('secret_missing', `the webhook has no setting ${setting} yet; save it first`);
    const value = request.valueAt(at);
    if (value === undefined) return failed('signature_missing', `${nameOf(at)} is missing`);
    if (sameSecret(value, expected)) continue;
    return failed('signature_mismatch', `${nameOf(at)} is not the setting ${setting} of this webhook`);
  }
  return undefined;
}

/** Fetches the URL by which the provider expects the confirmation. */
async function confirmUrl(
  request: ProviderRequest,
  { at, hosts }: NonNullable<Handshake['confirm']>,
  fetchDocument: FetchDocument,
): Promise<Failure | undefined> {
  const url = URL.parse(request.valueAt(at) ?? '');
  if (!url || !isTrusted(url, hosts)) {
    return failed('confirmation_untrusted', `${nameOf(at)} is not an https: URL of ${hosts.join(' or ')}`);
  }
  try {
    await fetchDocument(url.href);
    return undefined;
  } catch (error) {
    return failed('confirmation_unavailable', `the URL to confirm was not reached: ${(error as Error).message}`);
  }
}

/** Whether the URL's host ends with one of the suffixes, at the default port. */
function isTrusted({ protocol, hostname, port, username, password }: URL, hosts: readonly string[]): boolean {
  if (protocol !== 'https:' || port !== '' || username !== '' || password !== '') return false;
  return hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
}
