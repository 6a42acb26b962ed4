import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const [RIGHT, WRONG] = ['whsec_right', 'whsec_wrong'] as const;
const TRANSFORM =
  'const transform = (evt, headers, query) => ({ name: evt.name, data: { n: evt.n, headers, query }, ...evt.more })';
const HERE = '127.0.0.1';

interface Webhook {
  id: string;
  url: string;
}

/** As Stripe signs. */
function signed(secret: string, body: object, ageSeconds = 0) {
  const [text, at] = [JSON.stringify(body), Math.floor(Date.now() / 1_000) - ageSeconds];
  const signature = createHmac('sha256', secret).update(`${at}.${text}`).digest('hex');
  return { body: text, headers: { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${signature}` } };
}

describe('The verification of webhook requests', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    host = await startAppHost();
    service = await startService({ dev: false });
    await host.register(service, [{ id: 'fn', triggers: [{ event: 'shown/x' }] }]);
  });
  after(async () => {
    await service?.stop();
    await host?.close();
  });

  const call = (method: string, path: string, body?: object) =>
    service.request(method, `/v1${path}`, body, service.apiHeaders);
  async function api(method: string, path: string, body?: object) {
    const response = await call(method, path, body);
    expect(response.status, JSON.stringify(response.body)).to.be.within(200, 299);
    return response.body.data;
  }
  const make = (fields: object = {}): Promise<Webhook> =>
    api('POST', '/webhooks', { name: 'v', transform: TRANSFORM, provider: 'stripe', secrets: [RIGHT], ...fields });
  const send = ({ url }: Webhook, given: object, query = '') => request('POST', url + query, given);
  const event = async (id: string) => (await service.stored(id)).body.data;
  const logged = async ({ id }: Webhook, count = 1) =>
    (await service.waitFor(`/v1/webhooks/${id}/requests`, ({ body }) => body.data.length === count)).body.data;
  const rerun = (webhook: Webhook, requestId: string, dry_run: boolean) =>
    call('POST', `/webhooks/${webhook.id}/requests/${requestId}/rerun`, { dry_run });
  const replayed = async ({ id }: Webhook, fields: object = {}) => {
    const { replay } = await api('POST', `/webhooks/${id}/replays`, { dry_run: false, rate: 100, ...fields });
    const path = `/v1/webhooks/${id}/replays/${replay.id}`;
    return (await service.waitFor(path, ({ body }) => body.data.state === 'done')).body.data;
  };

  it('a request that failed verification stays rejected when it is re-run or replayed, until the secret is right', async () => {
    const webhook = await make({ secrets: [WRONG] });
    const { status, body } = await send(webhook, signed(RIGHT, { name: 'late/x' }));
    expect([status, body.reason]).to.deep.equal([401, 'signature_mismatch']);
    const [{ id, ...entry }] = await logged(webhook);
    expect(entry).to.deep.include({ outcome: 'rejected', reason: 'verification_failed', ids: [] });
    for (const dry of [true, false]) {
      const again = await rerun(webhook, id, dry);
      expect([again.status, again.body.code]).to.deep.equal([401, 'verification_failed']);
    }
    const draft = 'const transform = () => ({ name: "forged/x", data: {} })';
    const { dry_run } = await api('POST', `/webhooks/${webhook.id}/replays`, { request_ids: [id], draft });
    const outcomes = [dry_run.sample[0].before, dry_run.sample[0].after].map(
      ({ outcome, reason }) => `${outcome} ${reason}`,
    );
    expect(outcomes).to.deep.equal(['rejected verification_failed', 'rejected verification_failed']);
    expect(await replayed(webhook, { request_ids: [id] })).to.include({ done: 0, failed: 1 });
    await api('PATCH', `/webhooks/${webhook.id}`, { secrets: [RIGHT] });
    const dry = await rerun(webhook, id, true);
    expect([dry.status, dry.body.data?.events[0].verified]).to.deep.equal([200, true]);
    const done = await replayed(webhook, { request_ids: [id] });
    expect(done).to.include({ done: 1, failed: 0 });
  });

  it('the age of a request counts at its receipt: a request that was too old stays rejected, alone and in bulk', async () => {
    const webhook = await make();
    expect((await send(webhook, signed(RIGHT, { name: 'old/x' }, 3 * 86_400))).body.reason).to.equal(
      'timestamp_too_old',
    );
    const [{ id }] = await logged(webhook);
    for (const dry of [true, false]) {
      const again = await rerun(webhook, id, dry);
      expect([again.status, again.body.reason]).to.deep.equal([401, 'timestamp_too_old']);
    }
    expect(await replayed(webhook, { request_ids: [id] })).to.include({ done: 0, failed: 1 });
  });

  it('a request that was verified at its receipt is not verified again after a rotation', async () => {
    const webhook = await make();
    expect((await send(webhook, signed(RIGHT, { name: 'kept/x' }))).status).to.equal(200);
    const [{ id }] = await logged(webhook);
    await api('POST', `/webhooks/${webhook.id}/secrets`, { secret: WRONG, keep_old_seconds: 0 });
    const { status, body } = await rerun(webhook, id, false);
    expect([status, body.data?.events[0].verified]).to.deep.equal([200, true]);
  });

  it('a request from before the webhook had a provider must be verified when it is replayed', async () => {
    const webhook = await make({ provider: null, secrets: [] });
    await send(webhook, { body: { name: 'unsigned/x' } });
    await send(webhook, signed(RIGHT, { name: 'signed/x' }));
    const [genuine, unsigned] = await logged(webhook, 2);
    expect([genuine.verification, genuine.outcome]).to.deep.equal([null, 'accepted']);
    await api('PATCH', `/webhooks/${webhook.id}`, { provider: 'stripe', secrets: [RIGHT] });
    const refused = await rerun(webhook, unsigned.id, false);
    expect([refused.status, refused.body.reason]).to.deep.equal([401, 'signature_missing']);
    expect((await rerun(webhook, genuine.id, false)).body.data?.events[0].verified).to.equal(true);
    expect(await replayed(webhook)).to.include({ failed: 1 });
  });

  it('a request that was accepted without verification must be verified once the webhook verifies', async () => {
    const webhook = await make({ verify: false });
    await send(webhook, { body: { name: 'skipped/x' } });
    const [{ id, verification }] = await logged(webhook);
    expect(verification.result).to.equal('skipped');
    await api('PATCH', `/webhooks/${webhook.id}`, { verify: true });
    expect((await rerun(webhook, id, false)).status).to.equal(401);
  });

  it('the address list and the pause are checked before verification, even for handshakes', async () => {
    const webhook = await make({ ip_addresses: { mode: 'deny', items: [HERE] } });
    expect((await send(webhook, signed(WRONG, { name: 'a/b' }))).body.code).to.equal('ip_refused');
    const settings = { verify_token: 'chosen' };
    const meta = await make({ provider: 'meta', secrets: ['0'.repeat(32)], settings });
    const path = `${meta.url}?hub.mode=subscribe&hub.verify_token=chosen&hub.challenge=42`;
    expect((await request('GET', path)).status).to.equal(200);
    await api('POST', `/webhooks/${meta.id}/pause`);
    await until(async () => (await request('GET', path)).status === 503, { describe: 'the webhook is paused' });
  });

  it('only the service decides whether an event is verified: values from senders and transforms are dropped', async () => {
    const sent = await request('POST', service.url + service.eventPath, {
      body: { name: 'sent/x', data: {}, verified: true },
    });
    expect(await event(sent.body.ids[0])).not.to.have.property('verified');
    const plain = await make({ provider: null, secrets: [] });
    const made = await send(plain, { body: { name: 'made/x', more: { verified: true } } });
    expect(await event(made.body.ids[0])).not.to.have.property('verified');
    const skipped = await make({ verify: false });
    const unverified = await send(skipped, { body: { name: 'skipped/x', more: { verified: true } } });
    expect((await event(unverified.body.ids[0])).verified).to.equal(false);
    const genuine = await send(await make(), signed(RIGHT, { name: 'genuine/x', more: { verified: false } }));
    expect((await event(genuine.body.ids[0])).verified).to.equal(true);
  });

  it('functions, lists, copies and held events show whether an event was verified', async () => {
    const webhook = await make();
    const { body } = await send(webhook, signed(RIGHT, { name: 'shown/x' }));
    const [id] = body.ids;
    expect((await event(id)).verified).to.equal(true);
    const { event: given, events } = (await host.nextCall('fn')).body;
    expect([given.verified, events[0].verified]).to.deep.equal([true, true]);
    const { data } = (await service.get('/v1/events?name=shown/x')).body;
    expect(data[0].verified).to.equal(true);
    const copy = await api('POST', `/events/${id}/send-again`);
    expect((await event(copy.internal_id)).verified).to.equal(true);
    const branches = await make({ environment: 'branches' });
    const held = await send(branches, signed(RIGHT, { name: 'held/x' }));
    expect((await api('GET', `/holding/${held.body.ids[0]}`)).event.verified).to.equal(true);
    await api('POST', '/environments', { name: 'feature', kind: 'branch' });
    const { internal_id } = await api('POST', `/holding/${held.body.ids[0]}/assign`, { environment: 'feature' });
    const inFeature = { ...service.apiHeaders, 'x-service-env': 'feature' };
    const assigned = await until(async () => (await service.get(`/v1/events/${internal_id}`, inFeature)).body.data, {
      describe: 'the assigned event is stored',
    });
    expect(assigned.verified).to.equal(true);
  });

  it('the request log does not store tokens of verified requests, except tokens that a replay needs', async () => {
    const byKey = (at: string) => ({
      provider: 'api-key',
      verification: { scheme: 'token', token: { at } },
      secrets: ['s3cret'],
    });
    const header = await make(byKey('header:x-hook-pass'));
    const query = await make(byKey('query:pass'));
    const basic = await make({ provider: 'basic-auth', secrets: ['user:s3cret'] });
    const body = { name: 'token/x' };
    const authorization = `Basic ${Buffer.from('user:s3cret').toString('base64')}`;
    const responses = [
      await send(header, { body, headers: { 'x-hook-pass': 's3cret', 'x-kind': 'kept' } }),
      await send(query, { body }, '?page=1&pass=s3cret&%70ass=s3cret'),
      await send(basic, { body, headers: { authorization } }),
    ];
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    for (const webhook of [header, query, basic]) {
      const [{ id }] = await logged(webhook);
      const key = `webhook-request:${webhook.id}:${id}`;
      const stored = await service.redis.hget(`${service.prefix}:${key}`, 'request');
      expect(stored).to.match(/\[masked\]|%5Bmasked%5D/);
      expect(stored).not.to.match(/s3cret|dXNlcjpzM2NyZXQ/);
      const shown = await api('GET', `/webhooks/${webhook.id}/requests/${id}`);
      expect(JSON.stringify(shown)).not.to.match(/s3cret|dXNlcjpzM2NyZXQ/);
      expect((await rerun(webhook, id, true)).body.data?.events[0].verified).to.equal(true);
    }
    const [entry] = await logged(header);
    const shown = await api('GET', `/webhooks/${header.id}/requests/${entry.id}`);
    expect(shown.headers).to.include({ 'x-kind': 'kept', 'x-hook-pass': '[masked]' });
    await send(header, { body, headers: { 'x-hook-pass': 'almost-s3cret' } });
    const [failed] = await logged(header, 2);
    const raw = await service.redis.hget(`${service.prefix}:webhook-request:${header.id}:${failed.id}`, 'request');
    expect(raw).to.include('almost-s3cret');
    const view = await api('GET', `/webhooks/${header.id}/requests/${failed.id}`);
    expect(view.headers['x-hook-pass']).to.equal('[masked]');
  });

  it('GET /v1/webhooks/:id/requests filters by verification and by several outcomes', async () => {
    const webhook = await make({ filter: 'body.kind != "dropped"' });
    await send(webhook, signed(RIGHT, { name: 'list/x' }));
    await send(webhook, signed(RIGHT, { name: 'list/x', kind: 'dropped' }));
    await send(webhook, signed(WRONG, { name: 'list/x' }));
    const all = (await logged(webhook, 3)).map(({ id }: { id: string }) => id);
    const list = async (query: string) =>
      (await api('GET', `/webhooks/${webhook.id}/requests?${query}`)).map(({ id }: { id: string }) => all.indexOf(id));
    expect(await list('verification=failed')).to.deep.equal([0]);
    expect(await list('verification=verified')).to.deep.equal([1, 2]);
    expect(await list('verification=skipped')).to.deep.equal([]);
    expect(await list('outcome=rejected&outcome=filtered')).to.deep.equal([0, 1]);
    expect(await list('outcome=filtered')).to.deep.equal([1]);
    expect(await list('outcome=filtered,accepted&verification=verified')).to.deep.equal([1, 2]);
    const wrong = await call('GET', `/webhooks/${webhook.id}/requests?verification=maybe`);
    expect([wrong.status, wrong.body.field]).to.deep.equal([400, 'verification']);
  });
});
