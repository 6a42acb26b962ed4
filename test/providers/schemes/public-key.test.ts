import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect } from 'chai';
import { assert, asyncProperty, integer, nat } from 'fast-check';
import { bytesOf } from '../../../src/providers/verification/encodings.ts';
import { type PublicKeyScheme, publicKeyVerifier } from '../../../src/providers/verification/schemes/public-key.ts';
import { type GivenRequest, resultOf } from '../../support/provider-requests.ts';

const ED25519: PublicKeyScheme = {
  scheme: 'public-key',
  algorithm: 'ed25519',
  encoding: 'hex',
  signature: { at: 'header:x-signature' },
  signed: '{timestamp}{body}',
  timestamp: { at: 'header:x-timestamp', unit: 's', tolerance: 300 },
  key: { encoding: 'hex', format: 'raw' },
};
const ECDSA: PublicKeyScheme = {
  ...ED25519,
  algorithm: 'ecdsa-p256-sha256',
  encoding: 'base64',
  key: { encoding: 'base64', format: 'der' },
};

const NOW = 1_768_383_012_000;
const TIME = '1768383012';

const spki = (key: KeyObject) => key.export({ format: 'der', type: 'spki' });

describe('The verification scheme public-key', () => {
  const ed = generateKeyPairSync('ed25519');
  const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const rawEd = spki(ed.publicKey).subarray(-32).toString('hex');
  const derEc = spki(ec.publicKey).toString('base64');

  const signedBy = (key: KeyObject, body: string, scheme = ED25519, time = TIME): GivenRequest => ({
    headers: {
      'x-timestamp': time,
      'x-signature': sign(scheme.algorithm === 'ed25519' ? null : 'sha256', Buffer.from(time + body), key).toString(
        scheme.encoding,
      ),
    },
    body,
  });

  it('verifies Ed25519, ECDSA and RSA signatures over bodies of any bytes', async () => {
    const edVerifier = publicKeyVerifier(ED25519, [rawEd]);
    const ecVerifier = publicKeyVerifier(ECDSA, [derEc]);
    const rsaScheme: PublicKeyScheme = { ...ECDSA, algorithm: 'rsa-sha256' };
    const rsaVerifier = publicKeyVerifier(rsaScheme, [spki(rsa.publicKey).toString('base64')]);
    for (const body of ['', '{"a":"Zoë 🐦"}', '\u0000\u001f', 'x'.repeat(500_000)]) {
      const results = [
        await resultOf(edVerifier, signedBy(ed.privateKey, body), { nowMs: NOW }),
        await resultOf(ecVerifier, signedBy(ec.privateKey, body, ECDSA), { nowMs: NOW }),
        await resultOf(rsaVerifier, signedBy(rsa.privateKey, body, rsaScheme), { nowMs: NOW }),
      ];
      expect(results).to.deep.equal(['verified', 'verified', 'verified']);
    }
  });

  it('also accepts keys in PEM, and in hexadecimal of any case', async () => {
    const pem = ed.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    for (const key of [pem, `${pem}\n`, rawEd.toUpperCase()]) {
      expect(await resultOf(publicKeyVerifier(ED25519, [key]), signedBy(ed.privateKey, '{}'), { nowMs: NOW })).to.equal(
        'verified',
      );
    }
  });

  it('rejects private keys, and everything else that is not a public key for the algorithm', () => {
    const shortRsa = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
    const otherCurve = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey;
    const refused: [PublicKeyScheme, string][] = [
      [ED25519, ''],
      [ED25519, rawEd.slice(2)],
      [ED25519, `${rawEd}00`],
      [ED25519, 'not hexadecimal'],
      [ED25519, ec.publicKey.export({ format: 'pem', type: 'spki' }).toString()],
      [ED25519, ed.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()],
      [ED25519, '-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----'],
      [ECDSA, spki(otherCurve).toString('base64')],
      [ECDSA, spki(rsa.publicKey).toString('base64')],
      [ECDSA, Buffer.from('no key').toString('base64')],
      [{ ...ECDSA, algorithm: 'rsa-sha256' }, spki(shortRsa).toString('base64')],
    ];
    for (const [scheme, key] of refused) expect(() => publicKeyVerifier(scheme, [key]), key).to.throw(/key/);
  });

  it('says what is missing or malformed', async () => {
    const verifier = publicKeyVerifier(ED25519, [rawEd]);
    const { headers = {}, body } = signedBy(ed.privateKey, '{}');
    const signature = headers['x-signature'] as string;
    const result = (changed: Record<string, string>) =>
      resultOf(verifier, { headers: { ...headers, ...changed }, body }, { nowMs: NOW });
    expect(await resultOf(verifier, { body })).to.equal('signature_missing');
    expect(await result({ 'x-signature': '' })).to.equal('signature_malformed');
    expect(await result({ 'x-signature': signature.slice(2) })).to.equal('signature_malformed');
    expect(await result({ 'x-signature': `${signature}00` })).to.equal('signature_malformed');
    expect(await result({ 'x-signature': `${signature}zz` })).to.equal('signature_malformed');
    expect(await result({ 'x-signature': 'f'.repeat(100_000) })).to.equal('signature_missing');
    expect(await result({ 'x-timestamp': '' })).to.equal('timestamp_malformed');
    expect(await result({ 'x-timestamp': '1768383012.5' })).to.equal('timestamp_malformed');
    expect(await result({ 'x-timestamp': '1768382000' })).to.equal('timestamp_too_old');
    expect(await result({ 'x-timestamp': '1768384000' })).to.equal('timestamp_in_future');
  });

  it('verifies with either key of a rotation, and says which', async () => {
    const next = generateKeyPairSync('ed25519');
    const verifier = publicKeyVerifier(ED25519, [spki(next.publicKey).subarray(-32).toString('hex'), rawEd]);
    expect(await resultOf(verifier, signedBy(ed.privateKey, '{}'), { nowMs: NOW })).to.equal('verified');
    const stranger = generateKeyPairSync('ed25519');
    expect(await resultOf(verifier, signedBy(stranger.privateKey, '{}'), { nowMs: NOW })).to.equal(
      'signature_mismatch',
    );
  });

  it('does not accept an HMAC with the public key as a signature', async () => {
    const verifier = publicKeyVerifier(ED25519, [rawEd]);
    const forged = createHmac('sha512', Buffer.from(rawEd, 'hex')).update(`${TIME}{}`).digest('hex');
    const request = { headers: { 'x-timestamp': TIME, 'x-signature': forged }, body: '{}' };
    expect(await resultOf(verifier, request, { nowMs: NOW })).to.equal('signature_mismatch');
  });

  for (const [title, scheme, key, privateKey] of [
    ['Ed25519', ED25519, rawEd, ed.privateKey],
    ['ECDSA', ECDSA, derEc, ec.privateKey],
  ] as const) {
    it(`${title}: rejects every request with a changed byte of body, signature or time`, async () => {
      const verifier = publicKeyVerifier(scheme, [key]);
      const genuine = signedBy(privateKey, '{"amount":4900,"name":"Zoë"}', scheme);
      const changed = asyncProperty(nat(2), nat(10_000), integer({ min: 1, max: 255 }), async (part, at, change) => {
        const request = { ...genuine, headers: { ...genuine.headers } as Record<string, string> };
        const name = ['x-signature', 'x-timestamp'][part];
        const text = Buffer.from(name === undefined ? (genuine.body as string) : (request.headers[name] as string));
        text[at % text.length] = (text[at % text.length] as number) ^ change;
        const isSameHex = scheme.encoding === 'hex' && name === 'x-signature' && isSame(text, genuine.headers?.[name]);
        if (name === undefined) request.body = text as never;
        else request.headers[name] = text.toString('latin1');
        const result = await resultOf(verifier, request, { nowMs: NOW });
        return result !== 'verified' || isSameHex;
      });
      await assert(changed, { numRuns: 300 });
    });
  }
});

/** Digits in upper case are the same signature. */
function isSame(text: Buffer, genuine: string | undefined): boolean {
  return text.toString('latin1').toLowerCase() === genuine;
}

describe('The decoding of signatures', () => {
  it('accepts only one notation of each signature', () => {
    const base64 = Buffer.from('signature!').toString('base64');
    expect(bytesOf(base64, 'base64')?.toString()).to.equal('signature!');
    expect(bytesOf(base64.replace(/=+$/, ''), 'base64')?.toString()).to.equal('signature!');
    const others = [
      `${base64} `,
      ` ${base64}`,
      `${base64}=`,
      base64.replace('==', '==='),
      base64.replace('Q==', 'R=='),
      '',
    ];
    for (const text of others) expect(bytesOf(text, 'base64'), text).to.equal(undefined);
    expect(bytesOf('_-8', 'base64url')?.length).to.equal(2);
    expect(bytesOf('_-8', 'base64')).to.equal(undefined);
    expect(bytesOf('/+8', 'base64url')).to.equal(undefined);
    expect(bytesOf('0aF', 'hex')).to.equal(undefined);
    expect(bytesOf('0aFf', 'hex')?.length).to.equal(2);
    expect(bytesOf('0aFfxx', 'hex')).to.equal(undefined);
  });
});
