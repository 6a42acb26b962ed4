import { createHmac } from 'node:crypto';
import { Signature } from '@hubspot/api-client';
import { expect } from 'chai';
import { WebhooksHelper } from 'square';
import { getExpectedBodyHash, getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { presetOf } from '../../src/providers/catalog.ts';
import { itVerifies, type SignedRequest, send } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';

const TOKENS = ['0123456789abcdef0123456789abcdef', 'fedcba9876543210fedcba9876543210'] as const;

describe('Webhooks of providers that sign the URL', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const message = String(presetOf('twilio')?.sample.body);
  const twilioRequest = (secret: string, url: string, body = message): SignedRequest => ({
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      'i-twilio-idempotency-token': '2f1b7c1e-8f5e-4f0e-9c62-3a1c0b6f7d55',
      'x-twilio-signature': getExpectedTwilioSignature(secret, url, Object.fromEntries(new URLSearchParams(body))),
    },
    body,
  });

  itVerifies(
    { id: 'twilio', secrets: TOKENS, hasAge: false, sign: (secret, url) => twilioRequest(secret, url) },
    () => service,
  );

  describe('provider twilio', () => {
    const create = async (): Promise<string> => {
      const input = { name: 'Calls', provider: 'twilio', secrets: [TOKENS[0]] };
      return (await service.post('/v1/webhooks', input)).body.data.url;
    };

    it('twilio: a JSON body is verified by its hash in the query string', async () => {
      const url = await create();
      const body = '{"CallSid":"CA1","CallStatus":"completed","Caller":"Zoë"}';
      const query = `bodySHA256=${getExpectedBodyHash(body)}`;
      const headers = {
        'content-type': 'application/json',
        'x-twilio-signature': getExpectedTwilioSignature(TOKENS[0], `${url}?${query}`, {}),
      };
      expect((await send(url, { headers, query, body })).status).to.equal(200);
      const tampered = await send(url, { headers, query, body: body.replace('completed', 'failed') });
      expect([tampered.status, tampered.body.reason]).to.deep.equal([401, 'signature_mismatch']);
    });

    it('twilio: a signature over the URL without its port, or with https, is accepted', async () => {
      const url = await create();
      const withoutPort = url.replace(/:\d+/, '');
      const statuses = [];
      for (const signed of [withoutPort, url.replace('http:', 'https:'), withoutPort.replace('http:', 'https:')]) {
        const { headers, body } = twilioRequest(TOKENS[0], signed);
        statuses.push((await send(url, { headers, body })).status);
      }
      expect(statuses).to.deep.equal([200, 200, 200]);
      const { headers, body } = twilioRequest(TOKENS[0], 'https://example.com/e/1');
      expect((await send(url, { headers, body })).status).to.equal(401);
    });

    it('twilio: fields in another order, repeated fields and accents are signed as Twilio signs them', async () => {
      const url = await create();
      const body = 'b=2&a=%C3%A9&MessageSid=SM1&b=1&b=2&empty=';
      const fields = { b: ['2', '1', '2'], a: 'é', MessageSid: 'SM1', empty: '' };
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': getExpectedTwilioSignature(TOKENS[0], url, fields),
      };
      expect((await send(url, { headers, body })).status).to.equal(200);
    });

    it('twilio: a webhook of a phone call may come by GET', async () => {
      const url = await create();
      const query = 'CallSid=CA1&CallStatus=ringing';
      const headers = { 'x-twilio-signature': getExpectedTwilioSignature(TOKENS[0], `${url}?${query}`, {}) };
      expect((await send(url, { method: 'GET', headers, query, body: '' })).status).to.equal(200);
      expect((await send(url, { method: 'GET', headers, query: `${query}&x=1`, body: '' })).status).to.equal(401);
    });
  });

  const payment = JSON.stringify(presetOf('square')?.sample.body);
  itVerifies(
    {
      id: 'square',
      secrets: ['square-signature-key-1', 'square-signature-key-2'],
      hasAge: false,
      sign: async (secret, url) => {
        const signature = createHmac('sha256', secret)
          .update(url + payment)
          .digest('base64');
        const isGenuine = await WebhooksHelper.verifySignature({
          requestBody: payment,
          signatureHeader: signature,
          signatureKey: secret,
          notificationUrl: url,
        });
        expect(isGenuine, "Square's own library").to.equal(true);
        return {
          headers: { 'content-type': 'application/json', 'x-square-hmacsha256-signature': signature },
          body: payment,
        };
      },
    },
    () => service,
  );

  const changes = JSON.stringify(presetOf('hubspot')?.sample.body);
  itVerifies(
    {
      id: 'hubspot',
      secrets: ['6a1f0c2e-3b7d-4d86-9f0a-52c8e1b7d930', '7b2f1d3e-4c8e-5e97-8a1b-63d9f2c8ea41'],
      hasAge: true,
      sign: (clientSecret, url, timestamp) => ({
        headers: {
          'content-type': 'application/json;charset=utf-8',
          'x-hubspot-request-timestamp': String(timestamp),
          'x-hubspot-signature-v3': Signature.getSignature('POST', 'v3', {
            clientSecret,
            requestBody: changes,
            url,
            timestamp,
            signature: '',
          }),
        },
        body: changes,
      }),
    },
    () => service,
  );
});
