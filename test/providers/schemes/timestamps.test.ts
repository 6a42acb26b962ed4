import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { presetOf } from '../../../src/providers/catalog.ts';
import type { VerificationScheme } from '../../../src/providers/preset.ts';
import { createVerifier } from '../../../src/providers/verification/verifier.ts';
import { resultOf, verifyRequest } from '../../support/provider-requests.ts';

const NOW = 1_768_383_012_000;
const DAY_MS = 86_400_000;

describe('The age of a request', () => {
  const verifier = createVerifier(presetOf('stripe')?.verification as VerificationScheme, ['whsec_1']);
  const signedAt = (ms: number) => {
    const seconds = Math.floor(ms / 1_000);
    const signature = createHmac('sha256', 'whsec_1').update(`${seconds}.{}`).digest('hex');
    return { headers: { 'stripe-signature': `t=${seconds},v1=${signature}` }, body: '{}' };
  };

  it('is that at its receipt, however late it is verified', async () => {
    const logged = { nowMs: NOW + 30 * DAY_MS, receivedAtMs: NOW };
    expect(await resultOf(verifier, signedAt(NOW - 5_000), logged)).to.equal('verified');
    expect(await resultOf(verifier, signedAt(NOW - 30 * DAY_MS), logged)).to.equal('timestamp_too_old');
    expect(await resultOf(verifier, signedAt(NOW + DAY_MS), logged)).to.equal('timestamp_in_future');
  });

  it('is shown as a time and a readable duration', async () => {
    const told = async (ms: number) => {
      const verified = await verifyRequest(verifier, signedAt(ms), { nowMs: NOW });
      return verified.result === 'failed' && verified.message;
    };
    const place = 'the timestamp in the header stripe-signature is';
    const clock = '5 min are allowed. Check the clock of this machine';
    expect(await told(NOW - 301_000)).to.equal(`${place} 2026-01-14T09:25:11.000Z, 5 min before it came; ${clock}`);
    expect(await told(1_000)).to.equal(`${place} 1970-01-01T00:00:01.000Z, 20,467 days before it came; ${clock}`);
    expect(await told(NOW + 7_200_000)).to.equal(`${place} 2026-01-14T11:30:12.000Z, 2 h after it came; ${clock}`);
    expect(await told(8_640_000_000_001_000)).to.include('beyond all dates');
  });

  it('is measured now if the request is new', async () => {
    expect(await resultOf(verifier, signedAt(NOW), { nowMs: NOW })).to.equal('verified');
    expect(await resultOf(verifier, signedAt(NOW), { nowMs: NOW + DAY_MS })).to.equal('timestamp_too_old');
  });
});
