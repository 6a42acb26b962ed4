/** Providers without a library that verifies: the requests are signed as their documentation says. */
import { expect } from 'chai';
import { bodyOf, hmac, sampleRequest, unixSeconds } from '../support/provider-samples.ts';
import { itVerifies, lastLogged, type ProviderCase, send } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** A signature over the body alone, in one header. */
function overBody(
  id: string,
  header: string,
  { algorithm = 'sha256', encoding = 'hex', prefix = '' }: OverBody = {},
): ProviderCase {
  return {
    id,
    secrets: ['a secret of ours', 'the next one'],
    hasAge: false,
    sign: (secret) => sampleRequest(id, { [header]: prefix + hmac(algorithm, secret, bodyOf(id), encoding) }),
  };
}

interface OverBody {
  algorithm?: 'sha1' | 'sha256';
  encoding?: 'hex' | 'base64';
  prefix?: string;
}

const gitlab: ProviderCase = {
  id: 'gitlab',
  secrets: ['a token of ours', 'the next one'],
  hasAge: false,
  sign: (secret) => sampleRequest('gitlab', { 'x-gitlab-token': secret }),
  tamper: ({ headers, ...request }) => ({ ...request, headers: { ...headers, 'x-gitlab-token': 'a token of theirs' } }),
};

const calendly: ProviderCase = {
  id: 'calendly',
  secrets: ['current', 'next'],
  hasAge: true,
  sign: (secret, _, nowMs) => {
    const seconds = unixSeconds(nowMs);
    return sampleRequest('calendly', {
      'calendly-webhook-signature': `t=${seconds},v1=${hmac('sha256', secret, `${seconds}.${bodyOf('calendly')}`)}`,
    });
  },
};

const zendesk: ProviderCase = {
  id: 'zendesk',
  secrets: ['dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==', 'next'],
  hasAge: true,
  sign: (secret, _, nowMs) => {
    const time = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
    return sampleRequest('zendesk', {
      'x-zendesk-webhook-signature-timestamp': time,
      'x-zendesk-webhook-signature': hmac('sha256', secret, time + bodyOf('zendesk'), 'base64'),
    });
  },
};

const pagerduty: ProviderCase = {
  ...overBody('pagerduty', 'x-pagerduty-signature'),
  // Two signatures, as while PagerDuty rotates the secret.
  sign: (secret) =>
    sampleRequest('pagerduty', {
      'x-pagerduty-signature': `v1=${'0'.repeat(64)},v1=${hmac('sha256', secret, bodyOf('pagerduty'))}`,
    }),
};

describe('Webhooks of providers without a library', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  for (const given of [
    gitlab,
    calendly,
    zendesk,
    pagerduty,
    overBody('bitbucket', 'x-hub-signature', { prefix: 'sha256=' }),
    overBody('jira', 'x-hub-signature', { prefix: 'sha256=' }),
    overBody('vercel', 'x-vercel-signature', { algorithm: 'sha1' }),
    overBody('sentry', 'sentry-hook-signature'),
    overBody('typeform', 'typeform-signature', { prefix: 'sha256=', encoding: 'base64' }),
    overBody('intercom', 'x-hub-signature', { algorithm: 'sha1', prefix: 'sha1=' }),
    { ...overBody('notion', 'x-notion-signature', { prefix: 'sha256=' }), secrets: ['secret_1', 'secret_2'] as const },
  ]) {
    itVerifies(given, () => service);
  }

  it('intercom: the HEAD request that checks the URL gets 200 and makes no event', async () => {
    const created = await service.post('/v1/webhooks', {
      name: 'Intercom',
      provider: 'intercom',
      secrets: ['a secret'],
    });
    const { id, url } = created.body.data;
    const response = await fetch(url, { method: 'HEAD' });
    expect([response.status, await response.text()]).to.deep.equal([200, '']);
    expect((await fetch(url, { method: 'GET' })).status).to.equal(405);
    await lastLogged(service, id);
    const { body } = await service.get(`/v1/webhooks/${id}/requests`);
    expect(body.data.map(({ method }: { method: string }) => method)).to.deep.equal(['GET']);
    const unknown = `${url.slice(0, -4)}none`;
    expect((await fetch(unknown, { method: 'HEAD' })).status).to.equal(405);
  });

  it("notion: the verification token gets 200, is shown in the log, and becomes the webhook's secret", async () => {
    const token = 'secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl';
    const created = await service.post('/v1/webhooks', { name: 'Notion', provider: 'notion' });
    const { id, url } = created.body.data;
    const greeting = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ verification_token: token }),
    };
    expect((await send(url, greeting)).status).to.equal(200);
    const logged = await lastLogged(service, id);
    expect([logged.outcome, logged.ids]).to.deep.equal(['handshake', []]);
    expect(logged.message).to.include('copy verification_token');
    const { body: details } = await service.get(`/v1/webhooks/${id}/requests/${logged.id}`);
    expect(JSON.stringify(details)).to.include(token);

    const event = sampleRequest('notion', {
      'x-notion-signature': `sha256=${hmac('sha256', token, bodyOf('notion'))}`,
    });
    expect((await send(url, event)).body.reason).to.equal('secret_missing');
    expect((await service.request('PATCH', `/v1/webhooks/${id}`, { secrets: [token] })).status).to.equal(200);
    await until(async () => (await send(url, event)).status === 200, { describe: 'the token counts' });
  });
});
