import { hmacValidator } from '@adyen/api-library';
import { BraintreeGateway, Environment } from 'braintree';
import { expect } from 'chai';
import { presetOf } from '../../src/providers/catalog.ts';
import type { Preset } from '../../src/providers/preset.ts';
import { itVerifies, send } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';

type Item = Parameters<InstanceType<typeof hmacValidator>['calculateHmac']>[0];

describe('Webhooks of payment services', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const HMAC_KEYS = ['44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056', 'ab'.repeat(32)] as const;
  const library = new hmacValidator();
  const { body: sample } = (presetOf('adyen') as Preset).sample;
  const authorisation = (sample as { notificationItems: { NotificationRequestItem: object }[] }).notificationItems[0]
    ?.NotificationRequestItem;
  function notification(secret: string, changes: Record<string, unknown> = {}) {
    const item = { ...authorisation, ...changes } as Record<string, object>;
    const hmacSignature = library.calculateHmac(item as unknown as Item, secret);
    return { NotificationRequestItem: { ...item, additionalData: { ...item.additionalData, hmacSignature } } };
  }
  const adyenRequest = (...notificationItems: object[]) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ live: 'false', notificationItems }),
  });

  itVerifies(
    {
      id: 'adyen',
      secrets: HMAC_KEYS,
      hasAge: false,
      sign: (secret) => adyenRequest(notification(secret)),
      tamper: (request) => ({ ...request, body: request.body.replace('"value":4900', '"value":49000') }),
    },
    () => service,
  );

  const KEY_PAIRS = ['public_key_1:private_key_1', 'public_key_2:private_key_2'] as const;
  itVerifies(
    {
      id: 'braintree',
      secrets: KEY_PAIRS,
      hasAge: false,
      sign: async (secret) => {
        const [publicKey = '', privateKey = ''] = secret.split(':');
        const environment = Environment.Sandbox;
        const gateway = new BraintreeGateway({ environment, merchantId: 'merchant', publicKey, privateKey });
        const sample = gateway.webhookTesting.sampleNotification('subscription_went_past_due', 'sub-1042');
        const { kind } = await gateway.webhookNotification.parse(sample.bt_signature, sample.bt_payload);
        expect(kind, "Braintree's own library").to.equal('subscription_went_past_due');
        return {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(sample).toString(),
        };
      },
      tamper: (request) => ({ ...request, body: request.body.replace('bt_payload=', 'bt_payload=AAAA') }),
    },
    () => service,
  );

  describe('braintree: a captured request', () => {
    const [secret] = KEY_PAIRS;
    const [publicKey = '', privateKey = ''] = secret.split(':');
    const gateway = new BraintreeGateway({
      environment: Environment.Sandbox,
      merchantId: 'merchant',
      publicKey,
      privateKey,
    });
    const captured = gateway.webhookTesting.sampleNotification('subscription_charged_successfully', 'sub-1042');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const create = async (): Promise<string> => {
      const input = { name: 'Payments', provider: 'braintree', secrets: [secret] };
      return (await service.post('/v1/webhooks', input)).body.data.url;
    };

    it('braintree: does not verify if the body is parsed in another way', async () => {
      const url = await create();
      const forged = Buffer.from('<kind>disbursement</kind>').toString('base64');
      const json = `{"x":"&${new URLSearchParams(captured)}&","bt_payload":["${forged}"]}`;
      const { status, body } = await send(url, { headers, body: json });
      expect([status, body.reason]).to.deep.equal([401, 'body_malformed']);
    });

    it('braintree: counts once for every notation of its signature', async () => {
      const url = await create();
      const ids = new Set<string>();
      for (const bt_signature of [
        captured.bt_signature,
        captured.bt_signature.toUpperCase().replace(/^.*\|/, `${publicKey}|`),
        `other|${'0'.repeat(40)}&${captured.bt_signature}`,
        `${captured.bt_signature}&other|1`,
      ]) {
        for (const bt_payload of [captured.bt_payload, captured.bt_payload.trim()]) {
          const body = new URLSearchParams({ bt_signature, bt_payload }).toString();
          const response = await send(url, { headers, body });
          expect(response.status, JSON.stringify(response.body)).to.equal(200);
          ids.add(response.body.ids[0]);
        }
      }
      expect([...ids]).to.have.length(1);
    });
  });

  it('adyen: one item with a wrong signature rejects all items of the request', async () => {
    const input = { name: 'Adyen', provider: 'adyen', secrets: [HMAC_KEYS[0]] };
    const { url } = (await service.post('/v1/webhooks', input)).body.data;
    const genuine = notification(HMAC_KEYS[0]);
    const capture = notification(HMAC_KEYS[0], { eventCode: 'CAPTURE', merchantReference: 'Bücher: 1042\\' });
    expect((await send(url, adyenRequest(genuine, capture))).status).to.equal(200);
    const { status, body } = await send(url, adyenRequest(genuine, notification(HMAC_KEYS[1])));
    expect([status, body.reason]).to.deep.equal([401, 'signature_mismatch']);
  });
});
