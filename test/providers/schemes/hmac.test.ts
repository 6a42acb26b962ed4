import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { type HmacScheme, hmacVerifier } from '../../../src/providers/verification/schemes/hmac.ts';
import { resultOf } from '../../support/provider-requests.ts';

const SCHEME: HmacScheme = {
  scheme: 'hmac',
  algorithm: 'sha256',
  encoding: 'hex',
  signature: { at: 'header:x-signature' },
  signed: '{header:x-id}.{body}',
  key: { encoding: 'utf8' },
};

describe('The verification scheme hmac', () => {
  const verifier = hmacVerifier(SCHEME, ['new secret', 'old secret']);
  const signed = (body: Buffer, secret: string) => ({
    headers: { 'x-id': 'a', 'x-signature': createHmac('sha256', secret).update('a.').update(body).digest('hex') },
    body,
  });

  it('verifies bodies of any length, to the last byte', async () => {
    for (const bytes of [0, 1, 262_143, 262_144, 262_145, 524_288, 1_000_000]) {
      const body = Buffer.alloc(bytes, 'x');
      for (const secret of ['new secret', 'old secret']) {
        expect(await resultOf(verifier, signed(body, secret)), `${bytes} bytes`).to.equal('verified');
      }
      if (bytes === 0) continue;
      const request = signed(body, 'new secret');
      const changed = Buffer.concat([body.subarray(0, -1), Buffer.from('y')]);
      expect(await resultOf(verifier, { ...request, body: changed }), `${bytes} bytes`).to.equal('signature_mismatch');
    }
  });

  it('lets others work while it hashes a large body', async () => {
    let turns = 0;
    let isVerified = false;
    const count = () => {
      turns += 1;
      if (!isVerified) setImmediate(count);
    };
    setImmediate(count);
    expect(await resultOf(verifier, signed(Buffer.alloc(25 * 1_048_576), 'new secret'))).to.equal('verified');
    isVerified = true;
    expect(turns).to.be.at.least(100);
  });
});
