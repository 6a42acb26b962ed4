import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { PRESETS } from '../../src/providers/catalog.ts';
import { unknownPlaceholders } from '../../src/providers/handshake-response.ts';
import { lastLogged } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const APP_SECRET = '0123456789abcdef0123456789abcdef';

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

describe('Handshakes of providers', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  async function create(input: object): Promise<{ id: string; url: string }> {
    const { status, body } = await service.post('/v1/webhooks', { name: 'Handshakes', ...input });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  const meta = (more: object = {}) =>
    create({ provider: 'meta', secrets: [APP_SECRET], settings: { verify_token: 'chosen by me' }, ...more });

  const challenge = (token: string) =>
    `hub.mode=subscribe&hub.verify_token=${encodeURIComponent(token)}&hub.challenge=1158201444`;

  it('a GET with the token of the settings gets its challenge, as text that no browser runs', async () => {
    const { id, url } = await meta();
    const response = await fetch(`${url}?${challenge('chosen by me')}`);
    expect([response.status, await response.text()]).to.deep.equal([200, '1158201444']);
    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(response.headers.get('content-security-policy')).to.include('sandbox');
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
    const logged = await lastLogged(service, id);
    expect([logged.outcome, logged.status, logged.ids]).to.deep.equal(['handshake', 200, []]);
    expect(logged.message).to.equal('Meta has verified the URL.');
  });

  it('a GET with another token gets 401 and is logged', async () => {
    const { id, url } = await meta();
    const response = await fetch(`${url}?${challenge('guessed')}`);
    const text = await response.text();
    expect([response.status, JSON.parse(text).reason]).to.deep.equal([401, 'signature_mismatch']);
    expect(text).not.to.include('chosen by me');
    const logged = await lastLogged(service, id);
    expect([logged.outcome, logged.reason, logged.ids]).to.deep.equal(['rejected', 'verification_failed', []]);
  });

  it('a GET without a challenge is not a handshake and gets 405', async () => {
    const { id, url } = await meta();
    for (const query of ['', '?hub.mode=subscribe&hub.verify_token=chosen+by+me']) {
      const response = await fetch(url + query);
      expect(response.status, query).to.equal(405);
      await response.body?.cancel();
    }
    expect((await lastLogged(service, id)).reason).to.equal('method_not_allowed');
  });

  it('a challenge longer than any provider sends is not echoed', async () => {
    const { url } = await meta();
    const response = await fetch(`${url}?${challenge('chosen by me')}${'1'.repeat(3_000)}`);
    expect(response.status).to.equal(405);
    expect((await response.text()).length).to.be.below(1_000);
  });

  it('a webhook that accepts only POST responds to its handshake by GET', async () => {
    const { url } = await meta({ methods: ['POST'] });
    const response = await fetch(`${url}?${challenge('chosen by me')}`);
    expect([response.status, await response.text()]).to.deep.equal([200, '1158201444']);
  });

  it('a webhook that accepts GET for events verifies every GET that is not a handshake', async () => {
    const { url } = await meta({ methods: ['GET', 'POST'] });
    const response = await fetch(url);
    expect([response.status, ((await response.json()) as { reason: string }).reason]).to.deep.equal([
      401,
      'signature_missing',
    ]);
  });

  it('a signed validation gets the HMAC of its token', async () => {
    const { id, url } = await create({ provider: 'zoom', secrets: ['zoom secret'] });
    const response = await validate(url, 'zoom secret', 'qgg8vlvZRS6UYooatFL8Aw');
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(await response.json()).to.deep.equal({
      plainToken: 'qgg8vlvZRS6UYooatFL8Aw',
      encryptedToken: hmac('zoom secret', 'qgg8vlvZRS6UYooatFL8Aw'),
    });
    const logged = await lastLogged(service, id);
    expect([logged.outcome, logged.verification.result, logged.ids]).to.deep.equal(['handshake', 'verified', []]);
  });

  it('a validation that is signed with another secret gets 401, without an HMAC', async () => {
    const { id, url } = await create({ provider: 'zoom', secrets: ['zoom secret'] });
    const response = await validate(url, 'another', 'qgg8vlvZRS6UYooatFL8Aw');
    const text = await response.text();
    expect([response.status, JSON.parse(text).reason]).to.deep.equal([401, 'signature_mismatch']);
    expect(text).not.to.include(hmac('zoom secret', 'qgg8vlvZRS6UYooatFL8Aw'));
    expect((await lastLogged(service, id)).ids).to.deep.equal([]);
  });

  it('during a rotation the response is signed with the secret that the provider used', async () => {
    const { url } = await create({ provider: 'zoom', secrets: ['new secret', 'old secret'] });
    for (const secret of ['new secret', 'old secret']) {
      const response = await (await validate(url, secret, 'token1')).json();
      expect(response).to.deep.equal({ plainToken: 'token1', encryptedToken: hmac(secret, 'token1') });
    }
  });

  it('a webhook cannot be made without a verify token', async () => {
    const { status, body } = await service.post('/v1/webhooks', {
      name: 'Meta',
      provider: 'meta',
      secrets: [APP_SECRET],
    });
    expect([status, body.field]).to.deep.equal([400, 'settings.verify_token']);
  });

  it('Strava: the challenge comes back as JSON, and a wrong token gets 401', async () => {
    const settings = { verify_token: 'chosen by me' };
    const { id, url } = await create({ provider: 'strava', secrets: ['4Tnq0cKpW9sXb2Ld'], settings });
    const response = await expectHandshake(id, `${url}?token=4Tnq0cKpW9sXb2Ld&${challenge('chosen by me')}`);
    expect(await response.json()).to.deep.equal({ 'hub.challenge': '1158201444' });
    await expectRefusal(id, `${url}?${challenge('guessed')}`, {}, 'signature_mismatch');
  });

  it('Microsoft Graph: the decoded validation token comes back as text', async () => {
    const { id, url } = await create({ provider: 'microsoft-graph', secrets: ['a client state'] });
    const token = 'Validation: Testing client application reachability for subscription <b>1</b>';
    const target = `${url}?validationToken=${encodeURIComponent(token)}`;
    const response = await expectHandshake(id, target, { method: 'POST' });
    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(await response.text()).to.equal(token);
    await expectRefusal(id, url, { method: 'POST', body: '{"value": []}' }, 'signature_missing');
  });

  it('Twitch: a signed challenge comes back as text; an unsigned one gets 401', async () => {
    const secret = 'a secret of Twitch';
    const { id, url } = await create({ provider: 'twitch', secrets: [secret] });
    const body = JSON.stringify({ challenge: 'pogchamp-kappa-360noscope-vohiyo', subscription: { id: '1' } });
    const timestamp = new Date().toISOString();
    const headers = {
      'content-type': 'application/json',
      'twitch-eventsub-message-id': 'm1',
      'twitch-eventsub-message-timestamp': timestamp,
      'twitch-eventsub-message-type': 'webhook_callback_verification',
    };
    const signature = { 'twitch-eventsub-message-signature': `sha256=${hmac(secret, `m1${timestamp}${body}`)}` };
    const response = await expectHandshake(id, url, { method: 'POST', headers: { ...headers, ...signature }, body });
    expect(await response.text()).to.equal('pogchamp-kappa-360noscope-vohiyo');
    await expectRefusal(id, url, { method: 'POST', headers, body }, 'signature_missing');
  });

  it('Twitch: a revocation makes an event', async () => {
    const secret = 'a secret of Twitch';
    const { url } = await create({ provider: 'twitch', secrets: [secret] });
    const body = JSON.stringify({ subscription: { id: '1', status: 'authorization_revoked', type: 'channel.follow' } });
    const timestamp = new Date().toISOString();
    const headers = {
      'twitch-eventsub-message-id': 'm1',
      'twitch-eventsub-message-timestamp': timestamp,
      'twitch-eventsub-message-type': 'revocation',
      'twitch-eventsub-message-signature': `sha256=${hmac(secret, `m1${timestamp}${body}`)}`,
    };
    const { ids } = (await (await fetch(url, { method: 'POST', headers, body })).json()) as { ids: string[] };
    const event = await service.stored(ids[0]);
    expect(event.body.data).to.include({ name: 'twitch/revocation', verified: true });
  });

  it('Okta: the challenge of the header comes back as JSON; a GET without it gets 405', async () => {
    const { id, url } = await create({ provider: 'okta', secrets: ['a secret for Okta'] });
    const headers = { 'x-okta-verification-challenge': 'a-challenge-of-Okta_1' };
    const response = await expectHandshake(id, url, { headers });
    expect(await response.json()).to.deep.equal({ verification: 'a-challenge-of-Okta_1' });
    const other = await fetch(url, { headers: { authorization: 'a secret for Okta' } });
    await other.body?.cancel();
    expect(other.status).to.equal(405);
  });

  it('X: the response has the HMAC of the token; a token that could be a signed body gets none', async () => {
    const { id, url } = await create({ provider: 'x', secrets: ['consumer secret'] });
    const response = await expectHandshake(id, `${url}?crc_token=NzM2YzRh-_1&nonce=2`);
    const expected = createHmac('sha256', 'consumer secret').update('NzM2YzRh-_1').digest('base64');
    expect(await response.json()).to.deep.equal({ response_token: `sha256=${expected}` });
    const forged = await fetch(`${url}?crc_token=${encodeURIComponent('{"data":{"event_type":"x"}}')}`);
    expect([forged.status, (await forged.text()).includes('sha256=')]).to.deep.equal([405, false]);
  });

  it('X: the response to a token cannot sign a request, whatever the form of its body', async () => {
    const { id, url } = await create({ provider: 'x', secrets: ['consumer secret'] });
    for (const [token, type] of [
      ['event_type=forged', 'application/x-www-form-urlencoded'],
      ['123', 'application/json'],
      ['dG9rZW4=', 'text/plain'],
    ] as const) {
      const signed = (await (await fetch(`${url}?crc_token=${encodeURIComponent(token)}`)).json()) as object;
      const headers = { 'content-type': type, 'x-twitter-webhooks-signature': Object.values(signed)[0] };
      await expectRefusal(id, url, { method: 'POST', headers, body: token }, 'body_malformed');
    }
    const body = '{"data":{"event_type":"genuine"}}';
    const signature = createHmac('sha256', 'consumer secret').update(body).digest('base64');
    const headers = { 'content-type': 'application/json', 'x-twitter-webhooks-signature': `sha256=${signature}` };
    expect((await fetch(url, { method: 'POST', headers, body })).status).to.equal(200);
  });

  it('X: a webhook without a secret rejects a token', async () => {
    const { id, url } = await create({ provider: 'x' });
    await expectRefusal(id, `${url}?crc_token=abc`, {}, 'secret_missing');
  });

  it('Asana: the secret of the header comes back in the header', async () => {
    const { id, url } = await create({ provider: 'asana' });
    const headers = { 'x-hook-secret': 'b537207f20cbfa02357cf448134da559' };
    const response = await expectHandshake(id, url, { method: 'POST', headers, body: '{}' });
    expect(response.headers.get('x-hook-secret')).to.equal('b537207f20cbfa02357cf448134da559');
    expect(await response.text()).to.equal('');
    await expectRefusal(id, url, { method: 'POST', body: '{"events": []}' }, 'secret_missing');
  });

  it('Asana: an empty list makes no event', async () => {
    const { id, url } = await create({ provider: 'asana', secrets: ['asana secret'] });
    const body = '{"events":[]}';
    const headers = { 'x-hook-signature': hmac('asana secret', body) };
    expect(await (await fetch(url, { method: 'POST', headers, body })).json()).to.deep.equal({ ids: [], status: 200 });
    expect((await lastLogged(service, id)).outcome).to.equal('ignored');
  });

  it('Dropbox: the challenge comes back as text', async () => {
    const { id, url } = await create({ provider: 'dropbox', secrets: ['dropbox secret'] });
    const response = await expectHandshake(id, `${url}?challenge=<script>1</script>`);
    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(await response.text()).to.equal('<script>1</script>');
  });

  /** Gets 200, and is logged with its outcome and a note, without events. */
  async function expectHandshake(id: string, url: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(url, init);
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-security-policy')).to.include('sandbox');
    const logged = await lastLogged(service, id);
    expect([logged.outcome, logged.ids, typeof logged.message]).to.deep.equal(['handshake', [], 'string']);
    return response;
  }

  /** Gets 401 with the reason, and makes no events. */
  async function expectRefusal(id: string, url: string, init: RequestInit, reason: string): Promise<void> {
    const response = await fetch(url, init);
    const { code, reason: told } = (await response.json()) as Record<string, unknown>;
    expect([response.status, code, told]).to.deep.equal([401, 'verification_failed', reason]);
    const logged = await until(
      async () => {
        const [last] = (await service.get(`/v1/webhooks/${id}/requests?limit=1`)).body.data;
        return last?.outcome === 'rejected' && last;
      },
      { describe: 'the rejection is logged' },
    );
    expect([logged.verification.reason, logged.ids]).to.deep.equal([reason, []]);
  }

  function validate(url: string, secret: string, plainToken: string): Promise<Response> {
    const body = JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken }, event_ts: 1 });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const headers = {
      'content-type': 'application/json',
      'x-zm-request-timestamp': timestamp,
      'x-zm-signature': `v0=${hmac(secret, `v0:${timestamp}:${body}`)}`,
    };
    return fetch(url, { method: 'POST', headers, body });
  }
});

describe('Handshakes of presets', () => {
  it('have only placeholders that the service knows', () => {
    for (const { id, handshakes } of PRESETS) {
      for (const { response } of handshakes) {
        const { body, headers = {} } = response;
        const templates = [...(typeof body === 'string' ? [body] : Object.values(body)), ...Object.values(headers)];
        expect(
          templates.flatMap((text) => unknownPlaceholders(String(text))),
          id,
        ).to.deep.equal([]);
      }
    }
  });

  it('by GET belong to presets that list GET', () => {
    for (const { id, handshakes, methods } of PRESETS) {
      for (const { method } of handshakes) expect(methods, id).to.include(method);
    }
  });
});
