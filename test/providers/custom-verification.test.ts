import { expect } from 'chai';
import { customVerificationSchema } from '../../src/providers/preset.ts';

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
});
