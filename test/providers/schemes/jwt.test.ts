import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect } from 'chai';
import { assert, asyncProperty, integer, nat } from 'fast-check';
import { exportJWK, type JWTPayload, SignJWT } from 'jose';
import { type JwtScheme, jwtVerifier } from '../../../src/providers/verification/schemes/jwt.ts';
import type { VerifyOptions } from '../../../src/providers/verification/verification.ts';
import { documentsFrom, resultOf, verifyRequest } from '../../support/provider-requests.ts';

const NOW = 1_768_383_012_000;
const SECRET = 'a secret of thirty-two characters';
const KEY_SET = 'https://accounts.example.com/jwks.json';

const SCHEME: JwtScheme = {
  scheme: 'jwt',
  token: { at: 'header:authorization', prefix: 'Bearer ' },
  algorithms: ['HS256', 'RS256', 'ES256', 'EdDSA'],
  issuer: 'https://example.com',
  audience: 'tidegate',
  tolerance: 60,
};

const pem = (key: KeyObject) => key.export({ format: 'pem', type: 'spki' }).toString();

describe('The verification scheme jwt', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ed = generateKeyPairSync('ed25519');

  const signed = (key: KeyObject | Uint8Array, alg: string, claims: JWTPayload = {}, header: object = {}) =>
    new SignJWT({ iss: 'https://example.com', aud: 'tidegate', exp: NOW / 1_000 + 300, ...claims })
      .setProtectedHeader({ alg, ...header })
      .sign(key);
  const hmacKey = Buffer.from(SECRET);
  const result = (secrets: string[], token: string, options: Partial<VerifyOptions> = {}, scheme = SCHEME) =>
    resultOf(
      jwtVerifier(scheme, secrets),
      { headers: { authorization: `Bearer ${token}` } },
      { nowMs: NOW, ...options },
    );

  it('verifies tokens by a secret or by a public key in PEM', async () => {
    expect(await result([SECRET], await signed(hmacKey, 'HS256'))).to.equal('verified');
    expect(await result([pem(rsa.publicKey)], await signed(rsa.privateKey, 'RS256'))).to.equal('verified');
    expect(await result([pem(ec.publicKey)], await signed(ec.privateKey, 'ES256'))).to.equal('verified');
    expect(await result([pem(ed.publicKey)], await signed(ed.privateKey, 'EdDSA'))).to.equal('verified');
  });

  it('verifies with either secret of a rotation, and says which', async () => {
    const verifier = jwtVerifier(SCHEME, ['another secret of some characters', SECRET]);
    const request = { headers: { authorization: `Bearer ${await signed(hmacKey, 'HS256')}` } };
    expect(await verifyRequest(verifier, request, { nowMs: NOW })).to.deep.equal({
      result: 'verified',
      secretIndex: 1,
    });
  });

  it('never uses a public key as the secret of an HMAC, in whatever form it was pasted', async () => {
    const der = rsa.publicKey.export({ format: 'der', type: 'spki' });
    for (const pasted of [pem(rsa.publicKey), pem(rsa.publicKey).trim(), der.toString('base64')]) {
      for (const key of [Buffer.from(pasted), Buffer.from(pem(rsa.publicKey)), der]) {
        expect(await result([pasted], await signed(key, 'HS256'))).to.equal('signature_mismatch');
      }
      expect(() => jwtVerifier({ ...SCHEME, algorithms: ['HS256'] }, [pasted])).to.throw('is public');
    }
  });

  it('rejects tokens without a signature, with another algorithm, or with an embedded key', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = part({ iss: 'https://example.com', aud: 'tidegate' });
    const none = `${part({ alg: 'none' })}.${claims}.`;
    expect(await result([SECRET], none)).to.equal('signature_mismatch');
    const other = await signed(hmacKey, 'HS512');
    expect(await result([SECRET], other)).to.equal('signature_mismatch');
    const jwk = { ...(await exportJWK(ec.publicKey)), alg: 'ES256' };
    const selfMade = await signed(
      ec.privateKey,
      'ES256',
      {},
      { jwk, jku: 'https://evil.example.com', x5u: 'https://e' },
    );
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    expect(await result([pem(publicKey)], selfMade)).to.equal('signature_mismatch');
    const critical = await new SignJWT({}).setProtectedHeader({ alg: 'HS256', b64: true, crit: ['b64'] }).sign(hmacKey);
    expect(await result([SECRET], critical.replace(/^[^.]+/, part({ alg: 'HS256', crit: ['x'], x: 1 })))).to.equal(
      'signature_malformed',
    );
  });

  it('rejects secrets that are not a key for the algorithms', () => {
    const shortRsa = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
    for (const [algorithms, secret] of [
      [['RS256'], SECRET],
      [['RS256'], pem(ec.publicKey)],
      [['RS256'], pem(shortRsa)],
      [['ES256'], pem(ed.publicKey)],
      [['HS256'], KEY_SET],
      [['ES256'], KEY_SET.replace('https', 'http')],
      [['ES256'], 'https://user:password@example.com/jwks.json'],
      [['ES256'], ec.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()],
    ] as const) {
      expect(() => jwtVerifier({ ...SCHEME, algorithms: [...algorithms] }, [secret]), secret).to.throw();
    }
  });

  it('checks issuer, audience and times, with the tolerance', async () => {
    const at = (seconds: number) => NOW / 1_000 + seconds;
    const results = async (claims: JWTPayload, options = {}) =>
      result([SECRET], await signed(hmacKey, 'HS256', claims), options);
    expect(await results({ iss: 'https://evil.example.com' })).to.equal('signature_mismatch');
    expect(await results({ aud: ['others'] })).to.equal('signature_mismatch');
    expect(await results({ aud: ['others', 'tidegate'] })).to.equal('verified');
    expect(await results({ exp: at(-59) })).to.equal('verified');
    expect(await results({ exp: at(-61) })).to.equal('timestamp_too_old');
    const logged = { nowMs: NOW + 30 * 86_400_000, receivedAtMs: NOW };
    expect(await results({ exp: at(-59) }, logged)).to.equal('verified');
    expect(await results({ exp: at(-61) }, logged)).to.equal('timestamp_too_old');
    expect(await results({ nbf: at(59) })).to.equal('verified');
    expect(await results({ nbf: at(61) })).to.equal('timestamp_in_future');
    expect(await results({ exp: 'tomorrow' as never })).not.to.equal('verified');
  });

  it('says what is missing or malformed', async () => {
    const verifier = jwtVerifier(SCHEME, [SECRET]);
    expect(await resultOf(verifier, {})).to.equal('signature_missing');
    expect(await resultOf(verifier, { headers: { authorization: 'Basic eDp5' } })).to.equal('signature_missing');
    for (const token of ['', 'a', 'a.b.c', '..', 'e30.e30.e30', '\u00e9.\u00e9.\u00e9']) {
      expect(await result([SECRET], token), token).to.equal('signature_malformed');
    }
    expect(await result([SECRET], 'x'.repeat(100_000))).to.equal('signature_missing');
  });

  it('rejects every token with a changed character', async () => {
    const token = await signed(hmacKey, 'HS256');
    const changed = asyncProperty(nat(token.length - 1), integer({ min: 33, max: 126 }), async (at, code) => {
      const mutant = token.slice(0, at) + String.fromCharCode(code) + token.slice(at + 1);
      return mutant === token || (await result([SECRET], mutant)) !== 'verified';
    });
    // The last character of the signature has two bits that do not count.
    const examples = Array.from({ length: 94 }, (_, code): [number, number] => [token.length - 1, code + 33]);
    await assert(changed, { numRuns: 300, examples });
  });

  describe('with a key set', () => {
    const setOf = async (keys: Record<string, KeyObject>) =>
      JSON.stringify({
        keys: await Promise.all(Object.entries(keys).map(async ([kid, key]) => ({ ...(await exportJWK(key)), kid }))),
      });

    it('verifies with the key that the token names, and fetches the set once', async () => {
      const { fetchDocument, asked } = documentsFrom({ [KEY_SET]: await setOf({ r: rsa.publicKey, e: ec.publicKey }) });
      const options = { fetchDocument };
      expect(await result([KEY_SET], await signed(rsa.privateKey, 'RS256', {}, { kid: 'r' }), options)).to.equal(
        'verified',
      );
      expect(await result([KEY_SET], await signed(ec.privateKey, 'ES256', {}, { kid: 'e' }), options)).to.equal(
        'verified',
      );
      expect(await result([KEY_SET], await signed(ec.privateKey, 'ES256'), options)).to.equal('verified');
      expect(asked).to.deep.equal([KEY_SET]);
    });

    it('tries all keys of a set when the token names none', async () => {
      const other = generateKeyPairSync('rsa', { modulusLength: 2_048 });
      const { fetchDocument } = documentsFrom({ [KEY_SET]: await setOf({ a: other.publicKey, b: rsa.publicKey }) });
      expect(await result([KEY_SET], await signed(rsa.privateKey, 'RS256'), { fetchDocument })).to.equal('verified');
    });

    it('fetches the set again for an unknown key, at most once a minute', async () => {
      const documents = { [KEY_SET]: await setOf({ old: ec.publicKey }) };
      const { fetchDocument, asked } = documentsFrom(documents);
      const verifier = jwtVerifier(SCHEME, [KEY_SET]);
      const token = await signed(rsa.privateKey, 'RS256', { exp: NOW }, { kid: 'new' });
      const at = (nowMs: number) =>
        resultOf(verifier, { headers: { authorization: `Bearer ${token}` } }, { nowMs, fetchDocument });
      expect(await at(NOW)).to.equal('signature_mismatch');
      documents[KEY_SET] = await setOf({ old: ec.publicKey, new: rsa.publicKey });
      expect(await at(NOW + 59_999)).to.equal('signature_mismatch');
      expect(asked).to.have.length(1);
      expect(await at(NOW + 60_000)).to.equal('verified');
      expect(asked).to.have.length(2);
    });

    it('keeps using the old set while a newer one cannot be fetched', async () => {
      const documents: Record<string, string> = { [KEY_SET]: await setOf({ old: ec.publicKey }) };
      const { fetchDocument } = documentsFrom(documents);
      const verifier = jwtVerifier(SCHEME, [KEY_SET]);
      const token = await signed(ec.privateKey, 'ES256', { exp: NOW }, { kid: 'old' });
      const at = (nowMs: number) =>
        resultOf(verifier, { headers: { authorization: `Bearer ${token}` } }, { nowMs, fetchDocument });
      expect(await at(NOW)).to.equal('verified');
      delete documents[KEY_SET];
      expect(await at(NOW + 15 * 60_000)).to.equal('verified');
      expect(await at(NOW + 20 * 60_000)).to.equal('certificate_unavailable');
    });

    it('distinguishes a set that cannot be fetched from an invalid one, and ignores secret keys in a set', async () => {
      const token = await signed(hmacKey, 'HS256');
      expect(await result([KEY_SET], token, documentsFrom({}))).to.equal('certificate_unavailable');
      const oct = JSON.stringify({ keys: [{ kty: 'oct', k: hmacKey.toString('base64url') }] });
      const long = JSON.stringify({ keys: Array.from({ length: 101 }, () => ({ kty: 'EC' })) });
      const huge = JSON.stringify({ keys: [{ kty: 'RSA', e: 'AQAB', n: 'x'.repeat(5_000) }] });
      for (const text of [oct, long, huge, '{}', '[]', 'null', 'no JSON', '{"keys":{}}']) {
        expect(await result([KEY_SET], token, documentsFrom({ [KEY_SET]: text })), text.slice(0, 50)).to.equal(
          'certificate_untrusted',
        );
      }
    });
  });
});
