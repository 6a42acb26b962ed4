import { expect } from 'chai';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

interface Made {
  id: string;
  secret: string;
}

describe('event keys', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, webs: 2, workers: 0, env: { EVENT_KEYS: '', TRUST_PROXY: '1' } });
  });
  after(() => service.stop());

  const call = (method: string, path: string, body?: object) => service.request(method, path, body, service.apiHeaders);
  const send = (secret: string, body: object = { name: 'x/y', data: {} }, headers = {}, web = 0) =>
    request('POST', `${service.urls[web]}/e/${secret}`, { body, headers });

  async function make(fields: object = {}): Promise<Made> {
    const { status, body } = await call('POST', '/v1/event-keys', { name: 'test', ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  it('the service starts without event keys, and POST /v1/event-keys creates them', async () => {
    const { id, secret } = await make({ name: 'Shop' });
    expect((await send(secret)).status).to.equal(200);
    const { data } = await service.get(`/v1/event-keys/${id}`).then(({ body }) => body);
    expect(data).to.include({ id, name: 'Shop', environment: 'production', hint: secret.slice(-4) });
  });

  it('POST /v1/event-keys shows the secret once and stores its hash', async () => {
    const { id, secret } = await make();
    const shown = [await service.get(`/v1/event-keys/${id}`), await service.get('/v1/event-keys')];
    for (const { body } of shown) expect(JSON.stringify(body)).not.to.include(secret);
    expect(await service.redis.hgetall(`${service.prefix}:event-keys`).then(JSON.stringify))
      .to.include(id)
      .and.not.include(secret);
  });

  it('several event keys work side by side at every process, and a revoked one is rejected', async () => {
    const [one, two] = [await make(), await make()];
    expect((await send(one.secret, undefined, {}, 1)).status).to.equal(200);
    expect((await send(two.secret, undefined, {}, 1)).status).to.equal(200);
    expect((await call('DELETE', `/v1/event-keys/${one.id}`)).status).to.equal(204);
    expect((await send(one.secret)).body.code).to.equal('key_unknown');
    await until(async () => (await send(one.secret, undefined, {}, 1)).status === 401, { describe: 'the other knows' });
    expect((await send(two.secret)).status).to.equal(200);
    expect((await call('DELETE', `/v1/event-keys/${one.id}`)).status).to.equal(404);
  });

  it('GET /v1/event-keys shows the last use of a key', async () => {
    const { id, secret } = await make();
    expect((await service.get(`/v1/event-keys/${id}`)).body.data.last_used_at).to.equal(null);
    const before = Date.now();
    await send(secret);
    const { body } = await service.waitFor(
      `/v1/event-keys/${id}`,
      (response) => response.body.data.last_used_at !== null,
    );
    expect(Date.parse(body.data.last_used_at)).to.be.within(before, Date.now());
  });

  it('GET /v1/event-keys returns pages', async () => {
    const all = (await service.get('/v1/event-keys?limit=100')).body.data as Made[];
    const first = (await service.get('/v1/event-keys?limit=1')).body;
    const second = (await service.get(`/v1/event-keys?limit=100&cursor=${first.metadata.cursor}`)).body;
    expect([...first.data, ...second.data].map(({ id }: Made) => id)).to.deep.equal(all.map(({ id }) => id));
    expect(second.metadata.cursor).to.equal(undefined);
  });

  for (const [title, list, taken, rejected] of [
    [
      'allowed names',
      { mode: 'allow', items: ['order/*', 'user.*', 'exact'] },
      ['order/x', 'user.y', 'exact'],
      ['orders', 'exact.y'],
    ],
    ['denied names', { mode: 'deny', items: ['secret*'] }, ['public'], ['secret', 'secret/x']],
  ] as const) {
    it(`POST /e/:key with a list of ${title} rejects a batch when one event has another name`, async () => {
      const { id, secret } = await make({ event_names: list });
      const event = (name: string) => ({ name, data: {} });
      for (const name of taken) expect((await send(secret, event(name))).status, name).to.equal(200);
      for (const name of rejected) {
        const { status, body } = await send(secret, [event(taken[0]), event(name)]);
        expect([status, body.code, body.index, body.name], name).to.deep.equal([403, 'event_refused', 1, name]);
        expect(body.error).to.include(name);
        expect(body.ids).to.equal(undefined);
      }
      await call('PATCH', `/v1/event-keys/${id}`, { event_names: null });
      expect((await send(secret, event(rejected[0]))).status).to.equal(200);
    });
  }

  for (const [title, list, taken, rejected] of [
    [
      'allowed',
      { mode: 'allow', items: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'] },
      ['203.0.113.9', '2001:db8:1::5', '198.51.100.7', '::ffff:203.0.113.1', '203.0.113.9:4711', '[2001:db8::1]:80'],
      ['203.0.114.1', '2001:db9::1', '198.51.100.8', 'no address'],
    ],
    [
      'denied',
      { mode: 'deny', items: ['203.0.113.0/24', '2001:db8::/32'] },
      ['203.0.114.1', '2001:db9::1'],
      ['203.0.113.255', '2001:db8::', '::ffff:203.0.113.1', 'no address'],
    ],
  ] as const) {
    it(`POST /e/:key with a list of ${title} IPv4 and IPv6 addresses and ranges rejects other addresses`, async () => {
      const { secret } = await make({ ip_addresses: list });
      const from = (address: string) => send(secret, undefined, { 'x-forwarded-for': address });
      for (const address of taken) expect((await from(address)).status, address).to.equal(200);
      for (const address of rejected) {
        const { status, body } = await from(address);
        expect([status, body.code], address).to.deep.equal([403, 'ip_refused']);
      }
    });
  }

  it('POST /e/:key trusts X-Forwarded-For for as many hops as TRUST_PROXY allows', async () => {
    const { secret } = await make({ ip_addresses: { mode: 'allow', items: ['203.0.113.9'] } });
    expect((await send(secret, undefined, { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' })).status).to.equal(403);
    expect((await send(secret, undefined, { 'x-forwarded-for': '192.0.2.1, 203.0.113.9' })).status).to.equal(200);
    const untrusting = await startService({ dev: false, workers: 0 });
    try {
      const { body } = await untrusting.post(
        '/v1/event-keys',
        { name: 'x', ip_addresses: { mode: 'allow', items: ['203.0.113.9'] } },
        untrusting.apiHeaders,
      );
      const response = await untrusting.post(
        `/e/${body.data.secret}`,
        { name: 'x', data: {} },
        { 'x-forwarded-for': '203.0.113.9' },
      );
      expect([response.status, response.body.code]).to.deep.equal([403, 'ip_refused']);
      expect(response.body.error).to.include('127.0.0.1');
    } finally {
      await untrusting.stop();
    }
  });

  it('POST /v1/event-keys rejects invalid lists and names the field', async () => {
    for (const [fields, field] of [
      [{ ip_addresses: { mode: 'allow', items: ['10.0.0.0/33'] } }, 'ip_addresses.items.0'],
      [{ ip_addresses: { mode: 'allow', items: ['10.1'] } }, 'ip_addresses.items.0'],
      [{ event_names: { mode: 'deny', items: ['a', 'a*b'] } }, 'event_names.items.1'],
      [{ event_names: { mode: 'both', items: ['a'] } }, 'event_names.mode'],
    ] as const) {
      const { status, body } = await call('POST', '/v1/event-keys', { name: 'x', ...fields });
      expect([status, body.code, body.field]).to.deep.equal([400, 'input_invalid', field]);
    }
  });

  it('POST /e/:key accepts larger bodies when the installation or the key allows them', async () => {
    const [plain, wide] = [await make(), await make({ max_bytes: 2_000_000 })];
    const large = { name: 'large', data: { text: 'x'.repeat(600_000) } };
    expect((await send(plain.secret, large)).body).to.include({ code: 'body_too_large', limit_bytes: 524_288 });
    expect((await send(wide.secret, large)).status).to.equal(200);
    expect((await call('PATCH', '/v1/account/limits', { event_max_bytes: 700_000 })).status).to.equal(200);
    expect((await send(plain.secret, large)).status).to.equal(200);
    await call('PATCH', '/v1/account/limits', { event_max_bytes: null });
    expect((await send(plain.secret, large)).status).to.equal(413);
    // The environment's limit is narrower or wider than that of the installation, and the key's comes first.
    const limits = '/v1/environments/production/limits';
    expect((await send(plain.secret, large)).body.error).to.include(`PATCH ${limits} (up to 16777216)`);
    const changed = await call('PATCH', limits, { event_max_bytes: 700_000 });
    expect([changed.status, changed.body.data.name, changed.body.data.event_max_bytes]).to.deep.equal([
      200,
      'production',
      700_000,
    ]);
    expect((await send(plain.secret, large)).status).to.equal(200);
    await call('PATCH', limits, { event_max_bytes: 100 });
    expect((await send(plain.secret, large)).body).to.include({ code: 'body_too_large', limit_bytes: 100 });
    expect((await send(wide.secret, large)).status).to.equal(200);
    const narrow = await make({ max_bytes: 50 });
    expect((await send(narrow.secret, large)).body.error).to.include('"max_bytes" of the event key');
    expect((await service.get('/v1/environments')).body.data[0]).to.include({
      name: 'production',
      event_max_bytes: 100,
    });
    await call('PATCH', limits, { event_max_bytes: null });
    expect((await call('PATCH', '/v1/environments/nowhere/limits', { event_max_bytes: null })).status).to.equal(404);
    expect((await service.get('/v1/account/limits')).body.data).to.deep.equal({
      event_max_bytes: null,
      default_event_max_bytes: 524_288,
    });
  });
});
