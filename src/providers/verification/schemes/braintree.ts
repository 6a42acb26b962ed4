/** Braintree sends a form: `bt_payload`, and in `bt_signature` pairs of a public key and the HMAC that its private key makes
 *  (https://developer.paypal.com/braintree/docs/guides/webhooks/parse). */
import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { bytesOf } from '../encodings.ts';
import { failed, type Verifier } from '../verification.ts';

const SHA1_BYTES = 20;
const MAX_PAIRS = 10;

interface ApiKey {
  publicKey: string;
  hmacKey: KeyObject;
}

/** @param secrets `public_key:private_key`, newest first
 *  @throws Error for an invalid secret */
export function braintreeVerifier(secrets: readonly string[]): Verifier {
  const keys = secrets.map(keyOf);
  return ({ form }) => {
    if (!form) return failed('body_malformed', 'the body is not a form');
    const text = form.get('bt_signature');
    const payload = form.get('bt_payload');
    if (!text) return failed('signature_missing', 'the form field bt_signature has no signature');
    if (!payload || !/^[\w+/=\n-]+$/.test(payload)) {
      return failed('body_malformed', 'the form field bt_payload is not base64');
    }
    const pairs = text.split('&', MAX_PAIRS).map((pair) => pair.split('|', 2) as [string, string?]);
    const known = pairs.filter(([publicKey]) => keys.some((key) => key.publicKey === publicKey));
    if (known.length === 0) {
      return failed(
        'signature_mismatch',
        'the signature is by another API key. The secret of this webhook is public_key:private_key of the API key that made the webhook',
      );
    }
    let found = -1;
    for (const [i, { publicKey, hmacKey }] of keys.entries()) {
      for (const [name, signature = ''] of known) {
        if (name !== publicKey) continue;
        const given = bytesOf(signature, 'hex');
        if (given?.length !== SHA1_BYTES) {
          return failed('signature_malformed', `a signature in bt_signature is not ${SHA1_BYTES} bytes in hex`);
        }
        if (isSigned(payload, given, hmacKey) && found === -1) found = i;
      }
    }
    if (found >= 0) return { result: 'verified', secretIndex: found };
    return failed('signature_mismatch', 'the signature in bt_signature does not fit bt_payload and the private key');
  };
}

/** Some paths of a form drop the payload's final line break. */
function isSigned(payload: string, given: Buffer, key: KeyObject): boolean {
  const matches = [payload, `${payload}\n`].map((content) =>
    timingSafeEqual(createHmac('sha1', key).update(content).digest(), given),
  );
  return matches.includes(true);
}

function keyOf(secret: string): ApiKey {
  const [, publicKey, privateKey] = /^([^:|&\s]+):(\S+)$/.exec(secret.trim()) ?? [];
  if (!publicKey || !privateKey) throw new Error('the secret is not public_key:private_key');
  return { publicKey, hmacKey: createSecretKey(hash('sha1', privateKey, 'buffer')) };
}
