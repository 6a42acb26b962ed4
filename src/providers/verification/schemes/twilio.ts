/** Twilio signs the URL with its query string and the sorted fields of a form; for other bodies, the query string contains the body's
 *  hash (https://www.twilio.com/docs/usage/security#validating-requests). */
import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { ProviderRequest } from '../../provider-request.ts';
import { bytesOf } from '../encodings.ts';
import { failed, type Verifier } from '../verification.ts';

const SHA1_BYTES = 20;
const BODY_HASH = 'bodySHA256';

/** @param secrets auth tokens, newest first */
export function twilioVerifier(secrets: readonly string[]): Verifier {
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(secret)));
  return (request) => {
    const text = request.valueAt('header:x-twilio-signature');
    if (text === undefined) return failed('signature_missing', 'the header x-twilio-signature has no signature');
    const given = bytesOf(text, 'base64');
    if (given?.length !== SHA1_BYTES) {
      return failed(
        'signature_malformed',
        `the signature in the header x-twilio-signature is not ${SHA1_BYTES} bytes in base64`,
      );
    }
    const bodyHash = request.query.get(BODY_HASH);
    const fields = bodyHash === null ? request.form && sortedFields(request.form) : '';
    if (fields === undefined) {
      return failed('body_malformed', `the body is not a form, and the query string has no ${BODY_HASH}`);
    }
    const secretIndex = matching(keys, given, request, fields);
    if (secretIndex === -1) {
      return failed(
        'signature_mismatch',
        'the signature in the header x-twilio-signature does not fit the URL, the form and the auth token. Compare the URL and the token with those of the Twilio Console',
      );
    }
    if (bodyHash !== null && !isHashOf(bodyHash, request.body)) {
      return failed('signature_mismatch', `the body does not fit its hash, the query parameter ${BODY_HASH}`);
    }
    return { result: 'verified', secretIndex };
  };
}

/** Tries every key with every URL, in constant time. */
function matching(keys: readonly KeyObject[], given: Buffer, { urls, search }: ProviderRequest, fields: string) {
  const query = search === '' ? '' : `?${search}`;
  const contents = urls.flatMap(withAndWithoutPort).map((url) => url + query + fields);
  const matches = keys.map((key) =>
    contents.map((content) => timingSafeEqual(createHmac('sha1', key).update(content).digest(), given)).includes(true),
  );
  return matches.indexOf(true);
}

/** Twilio omits the port of some URLs, and adds the default port to others. */
function withAndWithoutPort(url: string): string[] {
  const match = /^(https?):\/\/([^/]*?)(:\d+)?(\/.*)$/.exec(url);
  if (!match) return [url];
  const [, scheme, host, port = scheme === 'https' ? ':443' : ':80', path] = match;
  return [`${scheme}://${host}${port}${path}`, `${scheme}://${host}${path}`];
}

/** Names and values in one text, sorted by name; duplicates count once. Twilio puts no separator between name and value: anybody with a
 *  signed request can shift that boundary, but change nothing else. */
function sortedFields(form: URLSearchParams): string {
  const names = [...new Set(form.keys())].sort();
  return names.flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value)).join('');
}

function isHashOf(text: string, body: Buffer): boolean {
  const expected = Buffer.from(hash('sha256', body, 'hex'));
  const given = Buffer.from(text.toLowerCase());
  return given.length === expected.length && timingSafeEqual(given, expected);
}
