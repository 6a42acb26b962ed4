import { createHmac, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { EventWebhook, EventWebhookHeader } from '@sendgrid/eventwebhook';
import { expect } from 'chai';
import { presetOf } from '../../src/providers/catalog.ts';
import { itVerifies, send } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';

function ecKey(): { publicKey: string; privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

describe('Webhooks of mail services', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const keys = [ecKey(), ecKey()] as const;
  const mails = JSON.stringify(presetOf('sendgrid')?.sample.body);
  itVerifies(
    {
      id: 'sendgrid',
      secrets: [keys[0].publicKey, keys[1].publicKey],
      hasAge: true,
      sign: (secret, _, nowMs) => {
        const timestamp = String(Math.floor(nowMs / 1_000));
        const { privateKey } = secret === keys[0].publicKey ? keys[0] : keys[1];
        const signature = createSign('sha256')
          .update(timestamp + mails)
          .sign(privateKey, 'base64');
        const library = new EventWebhook();
        const isGenuine = library.verifySignature(library.convertPublicKeyToECDSA(secret), mails, signature, timestamp);
        expect(isGenuine, "SendGrid's own library").to.equal(true);
        return {
          headers: {
            'content-type': 'application/json',
            [EventWebhookHeader.SIGNATURE()]: signature,
            [EventWebhookHeader.TIMESTAMP()]: timestamp,
          },
          body: mails,
        };
      },
    },
    () => service,
  );

  const mail = presetOf('mailgun')?.sample.body as Record<string, unknown>;
  const mailgunRequest = (secret: string, nowMs: number) => {
    const timestamp = String(Math.floor(nowMs / 1_000));
    const token = randomBytes(25).toString('hex');
    const signature = createHmac('sha256', secret)
      .update(timestamp + token)
      .digest('hex');
    const body = JSON.stringify({ ...mail, signature: { timestamp, token, signature } });
    return { headers: { 'content-type': 'application/json' }, body };
  };
  itVerifies(
    {
      id: 'mailgun',
      secrets: ['key-0123456789abcdef', 'key-fedcba9876543210'],
      hasAge: true,
      sign: (secret, _, nowMs) => mailgunRequest(secret, nowMs),
      // The event is not signed: another one with the same token counts as a repeat.
      tamper: (request) => ({ ...request, body: request.body.replace('"token":"', '"token":"0') }),
    },
    () => service,
  );

  it('mailgun: a forged event with the signature of a genuine one counts as its repeat', async () => {
    const input = { name: 'Mailgun', provider: 'mailgun', secrets: ['key-0123456789abcdef'] };
    const { url } = (await service.post('/v1/webhooks', input)).body.data;
    const genuine = mailgunRequest('key-0123456789abcdef', Date.now());
    const forged = { ...genuine, body: genuine.body.replace('"delivered"', '"unsubscribed"') };
    const [first, second] = [await send(url, genuine), await send(url, forged)];
    expect(second.body.ids).to.deep.equal(first.body.ids);
  });

  const delivery = JSON.stringify(presetOf('postmark')?.sample.body);
  itVerifies(
    {
      id: 'postmark',
      secrets: ['postmark:a long password', 'postmark:a longer pässword: new'],
      hasAge: false,
      sign: (secret) => ({
        headers: {
          'content-type': 'application/json',
          authorization: `Basic ${Buffer.from(secret).toString('base64')}`,
        },
        body: delivery,
      }),
      tamper: (request) => ({ ...request, headers: { ...request.headers, authorization: 'Basic cG9zdG1hcms6bm8=' } }),
    },
    () => service,
  );
});
