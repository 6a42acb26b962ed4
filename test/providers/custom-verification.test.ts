import { createHmac, createSecretKey } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { customVerificationSchema } from '../../src/providers/preset.ts';
import { hmacOf } from '../../src/providers/verification/schemes/hmac.ts';

const hmac = (signed: string) => ({
  scheme: 'hmac',
  algorithm: 'sha256',
  encoding: 'hex',
  signature: { at: 'header:x-signature' },
  signed,
});
const token = (at: string) => ({ scheme: 'token', token: { at } });
const isAccepted = (verification: object) => customVerificationSchema.safeParse(verification).success;

describe('Custom verification', () => {
  it('signs the body only once, since each further time would hash all of it again for any request', () => {
    expect(isAccepted(hmac('{timestamp}.{body}.{url}'))).to.equal(true);
    expect(isAccepted(hmac('{body}{body}'))).to.equal(false);
  });

  it('reads at most ten levels of the body, since each item of a list costs as many steps', () => {
    expect(isAccepted(token(`body:*${'.a'.repeat(9)}`))).to.equal(true);
    expect(isAccepted(token(`body:*${'.a'.repeat(10)}`))).to.equal(false);
  });

  it('computes the HMAC that Node computes, with keys and contents of any length', () => {
    const bytes = (minLength: number) =>
      fc.uint8Array({ minLength, maxLength: 300 }).map((array) => Buffer.from(array));
    fc.assert(
      fc.property(bytes(1), fc.array(bytes(0), { maxLength: 3 }), (secret, parts) => {
        for (const algorithm of ['sha1', 'sha256', 'sha384', 'sha512'] as const) {
          const expected = createHmac(algorithm, secret).update(Buffer.concat(parts)).digest('hex');
          expect(hmacOf(algorithm, createSecretKey(secret))(parts).toString('hex'), algorithm).to.equal(expected);
        }
      }),
    );
  });
});
