import { generateKeyPairSync, sign } from 'node:crypto';
import { expect } from 'chai';
import { verifyKey } from 'discord-interactions';
import { presetOf } from '../../src/providers/catalog.ts';
import { itVerifies, type SignedRequest } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';

function application() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex'), privateKey };
}

describe('Webhooks of Discord', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const applications = [application(), application()] as const;
  async function signed(secret: string, body: string, nowMs: number): Promise<SignedRequest> {
    const timestamp = String(Math.floor(nowMs / 1_000));
    const { privateKey } = secret === applications[0].publicKey ? applications[0] : applications[1];
    const signature = sign(null, Buffer.from(timestamp + body), privateKey).toString('hex');
    expect(await verifyKey(body, signature, timestamp, secret), "Discord's own library").to.equal(true);
    const headers = {
      'content-type': 'application/json',
      'x-signature-ed25519': signature,
      'x-signature-timestamp': timestamp,
    };
    return { headers, body };
  }

  const sample = JSON.stringify(presetOf('discord')?.sample.body);
  itVerifies(
    {
      id: 'discord',
      secrets: [applications[0].publicKey, applications[1].publicKey],
      hasAge: true,
      sign: (secret, _, nowMs) => signed(secret, sample, nowMs),
    },
    () => service,
  );
});
