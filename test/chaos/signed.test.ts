import { expect } from 'chai';
import { compareDeliveries } from '../../chaos/checks/signed.ts';
import { SignedWebhook } from '../../chaos/load/signed-webhook.ts';
import type { Service } from '../../chaos/service.ts';
import { presetOf } from '../../src/providers/catalog.ts';
import type { VerificationScheme } from '../../src/providers/preset.ts';
import { createVerifier } from '../../src/providers/verification/verifier.ts';
import { resultOf } from '../support/provider-requests.ts';

const event = (internal_id: string, id: string, verified = true) => ({ internal_id, id, verified });

describe('the webhook of a provider in scripts/chaos', () => {
  it('signs as its provider does, and forges without the secret', async () => {
    let secret = '';
    const service = {
      async post(_: string, input: { secrets: string[] }) {
        secret = input.secrets[0] as string;
        return { id: 'id', url: 'http://service.example/e/key' };
      },
    };
    const webhook = await SignedWebhook.create(service as unknown as Service);
    const scheme = presetOf('standard-webhooks')?.verification as VerificationScheme;
    const verify = (isForged: boolean) =>
      resultOf(createVerifier(scheme, [secret], {}), { headers: webhook.sign('1', '{}', isForged), body: '{}' });
    expect(await verify(false)).to.equal('verified');
    expect(await verify(true)).to.equal('signature_mismatch');
  });

  it('finds deliveries with two events, events without an acknowledged position in the list, and unverified ones', () => {
    expect(compareDeliveries([event('A', '1'), event('B', '2')], ['A', 'B'], 2)).to.deep.equal([]);
    expect(compareDeliveries([event('A', '1'), event('B', '1')], ['A', 'B'], 2)).to.have.length(1);
    expect(compareDeliveries([event('A', '1')], ['A', 'B'], 1)).to.have.length(1);
    expect(compareDeliveries([event('A', '1', false)], ['A'], 1)).to.have.length(1);
    expect(compareDeliveries([event('A', '1')], ['A'], 2)).to.have.length(1);
  });
});
