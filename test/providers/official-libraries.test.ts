/** Providers whose official library signs, or verifies: then the tests sign by hand, and the library must accept the same request. */
import '@shopify/shopify-api/adapters/web-api';
import { LinearWebhookClient } from '@linear/sdk/webhooks';
import { sign as signForGithub } from '@octokit/webhooks-methods';
import { Environment, Paddle } from '@paddle/paddle-node-sdk';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';
import bolt from '@slack/bolt';
import { expect } from 'chai';
import { bodyOf, hmac, sampleRequest, unixSeconds } from '../support/provider-samples.ts';
import { itVerifies, lastLogged, type ProviderCase, send } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';

const github: ProviderCase = {
  id: 'github',
  secrets: ['a secret of ours', 'the next one'],
  hasAge: false,
  sign: async (secret) =>
    sampleRequest('github', { 'x-hub-signature-256': await signForGithub(secret, bodyOf('github')) }),
};

const slack: ProviderCase = {
  id: 'slack',
  secrets: ['8f742231b10e8888abcd99e4b7c1a5d2', '1d2c3b4a5f6e7d8c9b0a1f2e3d4c5b6a'],
  hasAge: true,
  sign: (secret, _, nowMs) => {
    const seconds = unixSeconds(nowMs);
    return sampleRequest('slack', {
      'x-slack-request-timestamp': seconds,
      'x-slack-signature': `v0=${hmac('sha256', secret, `v0:${seconds}:${bodyOf('slack')}`)}`,
    });
  },
};

const shopify: ProviderCase = {
  id: 'shopify',
  secrets: ['0123456789abcdef0123456789abcdef', 'fedcba9876543210fedcba9876543210'],
  hasAge: false,
  sign: (secret) =>
    sampleRequest('shopify', { 'x-shopify-hmac-sha256': hmac('sha256', secret, bodyOf('shopify'), 'base64') }),
};

const paddle: ProviderCase = {
  id: 'paddle',
  secrets: ['pdl_ntfset_01kexg_current', 'pdl_ntfset_01kexg_next'],
  hasAge: true,
  sign: (secret, _, nowMs) => {
    const seconds = unixSeconds(nowMs);
    return sampleRequest('paddle', {
      'paddle-signature': `ts=${seconds};h1=${hmac('sha256', secret, `${seconds}:${bodyOf('paddle')}`)}`,
    });
  },
};

const linear: ProviderCase = {
  id: 'linear',
  secrets: ['lin_wh_current', 'lin_wh_next'],
  hasAge: true,
  sign: (secret, _, nowMs) => {
    const body = JSON.stringify({ ...JSON.parse(bodyOf('linear')), webhookTimestamp: nowMs });
    return sampleRequest('linear', { 'linear-signature': hmac('sha256', secret, body) }, body);
  },
};

describe('Webhooks of providers with an official library', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  for (const given of [github, slack, shopify, paddle, linear]) itVerifies(given, () => service);

  it('slack: the verification of the URL gets its challenge if Slack signed it', async () => {
    const secret = slack.secrets[0];
    const created = await service.post('/v1/webhooks', { name: 'Slack', provider: 'slack', secrets: [secret] });
    const { id, url } = created.body.data;
    const body = JSON.stringify({ token: 'none', challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY', type: 'url_verification' });
    const seconds = unixSeconds(Date.now());
    const greeting = (key: string) => ({
      headers: {
        'content-type': 'application/json',
        'x-slack-request-timestamp': seconds,
        'x-slack-signature': `v0=${hmac('sha256', key, `v0:${seconds}:${body}`)}`,
      },
      body,
    });
    expect(await send(url, greeting(secret))).to.deep.equal({ status: 200, body: '3eZbrw1aBm2rZgRNFdxV2595E9CY' });
    expect((await lastLogged(service, id)).outcome).to.equal('handshake');
    expect((await send(url, greeting('another'))).body.reason).to.equal('signature_mismatch');
  });
});

describe('Requests that the tests sign by hand', () => {
  /** @param accepts whether the official library accepts the request */
  function itIsGenuine(
    { id, secrets, sign }: ProviderCase,
    accepts: (secret: string, headers: Record<string, string>, body: string) => boolean | Promise<boolean>,
  ): void {
    it(`${id}: its official library accepts them with the same secret, and with no other`, async () => {
      const { headers, body } = await sign(secrets[0], '', Date.now());
      expect(await accepts(secrets[0], headers, body)).to.equal(true);
      expect(await accepts(secrets[1], headers, body)).to.equal(false);
    });
  }

  itIsGenuine(slack, (signingSecret, headers, body) =>
    bolt.isValidSlackRequest({
      signingSecret,
      body,
      headers: {
        'x-slack-signature': headers['x-slack-signature'] as string,
        'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']),
      },
    }),
  );

  itIsGenuine(shopify, async (apiSecretKey, headers, rawBody) => {
    const shop = shopifyApi({
      apiKey: 'none',
      apiSecretKey,
      hostName: 'shop.example',
      apiVersion: ApiVersion.January26,
      isEmbeddedApp: false,
      logger: { log: () => {} },
    });
    const rawRequest = new Request('https://shop.example/', { method: 'POST', headers, body: rawBody });
    return (await shop.webhooks.validate({ rawBody, rawRequest })).valid;
  });

  itIsGenuine(paddle, (secret, headers, body) =>
    new Paddle('none', { environment: Environment.sandbox }).webhooks.isSignatureValid(
      body,
      secret,
      headers['paddle-signature'] as string,
    ),
  );

  itIsGenuine(linear, (secret, headers, body) => {
    try {
      return new LinearWebhookClient(secret).verify(Buffer.from(body), headers['linear-signature'] as string);
    } catch {
      return false;
    }
  });
});
