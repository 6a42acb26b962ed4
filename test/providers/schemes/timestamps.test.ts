import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { presetOf } from '../../../src/providers/catalog.ts';
import type { VerificationScheme } from '../../../src/providers/preset.ts';
import { createVerifier } from '../../../src/providers/verification/verifier.ts';
import { resultOf } from '../../support/provider-requests.ts';

const NOW = 1_768_383_012_000;
const DAY_MS = 86_400_000;

describe('the age of a request', () => {
  const verifier = createVerifier(presetOf('stripe')?.verification as VerificationScheme, ['whsec_1']);
  const signedAt = (ms: number) => {
    const seconds = Math.floor(ms / 1_000);
    const signature = createHmac('sha256', 'whsec_1').update(`${seconds}.{}`).digest('hex');
    return { headers: { 'stripe-signature': `t=${seconds},v1=${signature}` }, body: '{}' };
  };

  it('counts at its receipt, however late it is verified', async () => {
    const logged = { nowMs: NOW + 30 * DAY_MS, receivedAtMs: NOW };
    expect(await resultOf(verifier, signedAt(NOW - 5_000), logged)).to.equal('verified');
    expect(await resultOf(verifier, signedAt(NOW - 30 * DAY_MS), logged)).to.equal('timestamp_too_old');
    expect(await resultOf(verifier, signedAt(NOW + DAY_MS), logged)).to.equal('timestamp_in_future');
  });

  it('counts now where a request is new', async () => {
    expect(await resultOf(verifier, signedAt(NOW), { nowMs: NOW })).to.equal('verified');
    expect(await resultOf(verifier, signedAt(NOW), { nowMs: NOW + DAY_MS })).to.equal('timestamp_too_old');
  });
});
