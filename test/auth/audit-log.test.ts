import { expect } from 'chai';
import { MAX_REJECTIONS } from '../../src/store/auth/rejection-log.ts';
import { addUser, keyHeaders, PASSWORD, sessionHeaders, signIn } from '../support/auth.ts';
import { openStore } from '../support/own-store.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

interface Entry {
  id: string;
  who: { kind: string; id: string; name: string };
  action: string;
  target: string | null;
  target_name: string | null;
  summary: string;
  ip: string;
  request_id: string;
}

describe('audit log', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0, env: { LOG_LEVEL: 'info' } });
    await addUser(service, 'ada@example.com', 'admin');
  });
  after(() => service.stop());

  const entries = async (query = '') => (await service.get(`/v1/audit${query}`)).body.data as Entry[];

  it('GET /v1/audit lists who changed what, when and from where', async () => {
    const headers = await sessionHeaders(service, 'ada@example.com');
    const { body, headers: responseHeaders } = await service.post(
      '/v1/api-keys',
      { name: 'CI', access: 'write' },
      headers,
    );
    const [entry] = await entries();
    expect(entry).to.deep.include({
      action: 'POST /v1/api-keys',
      target: body.data.id,
      target_name: 'CI',
      summary: 'Create an API key, name CI, access write',
      ip: '127.0.0.1',
      request_id: responseHeaders.get('x-request-id'),
    });
    expect(entry?.who).to.include({ kind: 'user', name: 'ada@example.com' });
    const key = { authorization: `Bearer ${body.data.secret}` };
    await service.request('DELETE', `/v1/api-keys/${body.data.id}`, undefined, service.apiHeaders);
    expect((await entries())[0]).to.deep.include({
      who: { kind: 'setting', id: 'API_KEY', name: 'the setting API_KEY' },
      action: 'DELETE /v1/api-keys/:id',
      target: body.data.id,
      target_name: 'CI',
    });
    expect((await service.get('/v1/events', key)).status).to.equal(401);
  });

  it('an entry has the name of a webhook, also of one that is gone, and a new name instead of the former', async () => {
    const webhook = { name: 'Orders', transform: 'function transform() {}' };
    const { id } = (await service.post('/v1/webhooks', webhook, service.apiHeaders)).body.data;
    const path = `/v1/webhooks/${id}`;
    await service.request('POST', `${path}/pause`, undefined, service.apiHeaders);
    await service.request('PATCH', path, { name: 'Sales' }, service.apiHeaders);
    await service.request('DELETE', path, undefined, service.apiHeaders);
    const seen = (await entries()).slice(0, 4).map(({ target, target_name }) => [target, target_name]);
    expect(seen).to.deep.equal(['Sales', 'Sales', 'Orders', 'Orders'].map((name) => [id, name]));
    await service.request('POST', '/v1/environments', { name: 'qa', kind: 'named' }, service.apiHeaders);
    expect((await entries())[0]).to.include({ target: 'qa', target_name: null });
  });

  it('GET /v1/audit lists sign-ins, and GET /v1/audit/refusals rejected ones', async () => {
    await signIn(service, 'ada@example.com');
    expect((await entries())[0]).to.include({ action: 'sign-in', summary: 'Signed in' });
    await signIn(service, 'mallory@example.com', 'let me in');
    await signIn(service, 'mallory@example.com', 'let me in now');
    const { data } = (await service.get('/v1/audit/refusals')).body;
    expect(data.length).to.equal(1);
    expect(data[0]).to.include({
      action: 'sign-in',
      reason: 'sign_in_failed',
      name: 'mallory@example.com',
      address: '127.0.0.1',
      count: 2,
    });
    expect(data[0].first_at < data[0].last_at).to.equal(true);
    expect((await entries())[0]).to.include({ action: 'sign-in', summary: 'Signed in' });
  });

  it('rejected sign-ins cannot displace audit entries, and the rejection log is bounded', async () => {
    const before = await entries('?limit=100');
    const store = await openStore(service.prefix);
    const rejection = { action: 'sign-in', reason: 'sign_in_failed', address: '192.0.2.1' };
    const names = Array.from({ length: MAX_REJECTIONS + 10 }, (_, n) => `${n}@example.com`);
    await Promise.all(names.map((name) => store.rejectionLog.record({ ...rejection, name }, 'r', Date.now())));
    expect(await service.redis.zcard(`${service.prefix}:rejections`)).to.equal(MAX_REJECTIONS);
    expect(await service.redis.hlen(`${service.prefix}:rejection-entries`)).to.equal(MAX_REJECTIONS);
    for (const key of ['rejections', 'rejection-entries']) {
      expect(await service.redis.pttl(`${service.prefix}:${key}`)).to.be.within(1, 30 * 86_400_000);
    }
    expect(await entries('?limit=100')).to.deep.equal(before);

    const seen = [];
    let query = '?limit=100';
    for (;;) {
      const { data, metadata } = (await service.get(`/v1/audit/refusals${query}`)).body;
      seen.push(...data.map(({ name }: { name: string }) => name));
      if (!metadata.cursor) break;
      query = `?limit=100&cursor=${metadata.cursor}`;
    }
    expect(seen).to.deep.equal(names.slice(-MAX_REJECTIONS).reverse());
    await store.redis.quit();
  });

  it('the service log has one line per audit entry', async () => {
    const { body } = await service.post(
      '/v1/webhooks',
      { name: 'logged', transform: 'function transform() {}' },
      service.apiHeaders,
    );
    await signIn(service, 'trudy@example.com', 'open sesame');
    const lines = () =>
      service
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line))
        .filter(({ msg }) => msg.startsWith('audit'));
    const rejected = () => lines().find(({ rejection }) => rejection?.name === 'trudy@example.com');
    await until(rejected, { describe: 'the rejection is logged' });
    expect(rejected().rejection).to.include({ action: 'sign-in', reason: 'sign_in_failed', ip: '127.0.0.1' });
    const made = lines().find(({ audit }) => audit?.target === body.data.id);
    expect(made.audit).to.deep.include({
      who: { kind: 'setting', id: 'API_KEY', name: 'the setting API_KEY' },
      action: 'POST /v1/webhooks',
      ip: '127.0.0.1',
    });
    expect(made.request_id).to.match(/^[0-9A-Z]{26}$/);
    expect(service.output()).not.to.include('open sesame');
  });

  it('GET /v1/audit lists changes made in Bull Board', async () => {
    const headers = await sessionHeaders(service, 'ada@example.com');
    const { status } = await service.request('PUT', '/queues/api/queues/pause', undefined, headers);
    expect(status).to.equal(200);
    expect((await entries())[0]).to.include({ action: 'PUT /queues/api/queues/pause' });
    await service.request('PUT', '/queues/api/queues/resume', undefined, headers);
  });

  it('GET /v1/audit omits rejected and safe requests', async () => {
    const [last] = await entries();
    await service.get('/v1/users');
    await service.post('/v1/api-keys', { name: '' }, service.apiHeaders);
    await service.request('DELETE', '/v1/api-keys/nope', undefined, service.apiHeaders);
    expect((await entries())[0]).to.deep.equal(last);
  });

  it('the audit log contains no secret', async () => {
    const key = await keyHeaders(service, 'read');
    await service.post('/v1/environments/branches/signing-key/rotate', undefined, service.apiHeaders);
    const signingKey = (await service.get('/v1/environments/branches/signing-key')).body.data.current;
    const text = JSON.stringify(await service.redis.xrange(`${service.prefix}:audit-log`, '-', '+'));
    for (const secret of [PASSWORD, 'let me in', signingKey, (key.authorization as string).slice('Bearer '.length)]) {
      expect(text).not.to.include(secret);
    }
  });

  it('GET /v1/audit returns each entry once over all pages', async () => {
    const all = await entries('?limit=100');
    const seen: Entry[] = [];
    let query = '?limit=3';
    for (;;) {
      const { data, metadata } = (await service.get(`/v1/audit${query}`)).body;
      seen.push(...data);
      if (!metadata.cursor) break;
      query = `?limit=3&cursor=${metadata.cursor}`;
    }
    expect(seen).to.deep.equal(all);
    expect((await service.get('/v1/audit?cursor=nope')).body.code).to.equal('input_invalid');
  });
});
