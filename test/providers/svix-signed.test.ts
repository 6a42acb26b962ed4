/** Providers that sign with Svix or Standard Webhooks. The official libraries sign. */
import { randomBytes } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { bodyOf, sampleRequest, unixSeconds } from '../support/provider-samples.ts';
import { itVerifies, type SignedRequest } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

function svixSigned(id: string): (secret: string, url: string, nowMs: number) => SignedRequest {
  return (secret, _, nowMs) => {
    const signature = new SvixWebhook(secret).sign(`msg_${id}`, new Date(nowMs), bodyOf(id));
    return sampleRequest(id, {
      'svix-id': `msg_${id}`,
      'svix-timestamp': unixSeconds(nowMs),
      // During a rotation Svix sends the signatures of both secrets.
      'svix-signature': `v1,${randomBytes(32).toString('base64')} ${signature}`,
    });
  };
}

function standardSigned(id: string): (secret: string, url: string, nowMs: number) => SignedRequest {
  return (secret, _, nowMs) =>
    sampleRequest(id, {
      'webhook-id': `msg_${id}`,
      'webhook-timestamp': unixSeconds(nowMs),
      'webhook-signature': new StandardWebhook(secret).sign(`msg_${id}`, new Date(nowMs), bodyOf(id)),
    });
}

describe('Webhooks signed with Svix or Standard Webhooks', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  for (const id of ['svix', 'resend', 'clerk']) {
    itVerifies({ id, secrets: [newSecret(), newSecret()], hasAge: true, sign: svixSigned(id) }, () => service);
  }
  for (const id of ['standard-webhooks', 'gitlab-signed']) {
    itVerifies({ id, secrets: [newSecret(), newSecret()], hasAge: true, sign: standardSigned(id) }, () => service);
  }
});
