import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

describe('Idempotency-Key', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const post = (path: string, body: object, key: string, headers: object = {}) =>
    service.post(path, body, { ...service.apiHeaders, 'idempotency-key': key, ...headers });
  const made = { name: 'CI', access: 'read' };
  const keyNames = async () =>
    (await service.get('/v1/api-keys', service.apiHeaders)).body.data.map(({ name }: { name: string }) => name);

  it('a repeated request gets the first response, including a secret that is shown once, and changes nothing', async () => {
    const first = await post('/v1/api-keys', made, 'once');
    const second = await post('/v1/api-keys', made, '"once"');
    expect(first.status).to.equal(201);
    expect(first.body.data.secret).to.be.a('string');
    expect(first.headers.get('idempotent-replayed')).to.equal(null);
    expect([second.status, second.body]).to.deep.equal([201, first.body]);
    expect(second.headers.get('idempotent-replayed')).to.equal('true');
    expect((await keyNames()).filter((name: string) => name === 'CI')).to.have.length(1);
    const audit = (await service.get('/v1/audit?limit=100', service.apiHeaders)).body.data;
    expect(audit.filter(({ action }: { action: string }) => action === 'POST /v1/api-keys')).to.have.length(1);
  });

  it('a response is stored encrypted in Redis and expires after a day', async () => {
    const { body } = await post('/v1/api-keys', { ...made, name: 'Sealed' }, 'sealed');
    const keys = await service.redis.keys(`*${service.prefix}*:idempotent-response:*`);
    for (const key of keys) {
      expect(await service.redis.get(key))
        .to.be.a('string')
        .and.not.include(body.data.secret)
        .and.not.include('Sealed');
      expect(await service.redis.pttl(key)).to.be.within(1, 86_400_000);
    }
    expect(keys).not.to.have.length(0);
  });

  it('the key with another body is rejected with 422; for another route, environment or principal it is a different key', async () => {
    await post('/v1/api-keys', { ...made, name: 'A' }, 'reused');
    const { status, body } = await post('/v1/api-keys', { ...made, name: 'B' }, 'reused');
    expect([status, body.code]).to.deep.equal([422, 'idempotency_key_reused']);
    const other = await post('/v1/environments', { name: 'staging' }, 'reused');
    expect(other.status).to.equal(201);
    const { body: key } = await post('/v1/api-keys', { name: 'Admin', access: 'admin' }, 'admin');
    const headers = { authorization: `Bearer ${key.data.secret}` };
    expect((await post('/v1/api-keys', { ...made, name: 'C' }, 'reused', headers)).status).to.equal(201);
    expect(await keyNames())
      .to.include.members(['A', 'C'])
      .and.not.include('B');
    const event = { name: 'idem/x', data: {} };
    const ids = [];
    for (const env of ['production', 'staging', 'production']) {
      ids.push((await post('/v1/events', event, 'event', { 'x-service-env': env })).body.data.internal_id);
    }
    expect(ids[0]).to.equal(ids[2]).and.not.equal(ids[1]);
  });

  it('a request that is concurrent with the first gets 409 with retry-after, and later gets the response', async () => {
    const open = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    host.on('sync', () => ({}));
    const app = await import('node:http').then(({ createServer }) =>
      createServer(async (_, response) => {
        reached.resolve();
        await open.promise;
        response.writeHead(500).end();
      }).listen(0, '127.0.0.1'),
    );
    await new Promise((resolve) => app.once('listening', resolve));
    const url = `http://127.0.0.1:${(app.address() as { port: number }).port}/api/service`;
    try {
      const first = post('/v1/apps', { url }, 'sync');
      await reached.promise;
      const second = await post('/v1/apps', { url }, 'sync');
      expect([second.status, second.body.code]).to.deep.equal([409, 'idempotency_key_in_use']);
      expect(second.headers.get('retry-after')).to.equal('1');
      open.resolve();
      expect((await first).status).to.equal(400);
      // It failed, so it is carried out anew.
      const third = await post('/v1/apps', { url }, 'sync');
      expect([third.status, third.body.code]).to.deep.equal([400, 'app_unreachable']);
    } finally {
      open.resolve();
      app.close();
    }
  });

  it('only one of many concurrent requests is executed', async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => post('/v1/event-keys', { name: 'Burst', environment: 'production' }, 'burst')),
    );
    const statuses = new Set(responses.map(({ status }) => status));
    expect([...statuses].every((status) => status === 201 || status === 409)).to.equal(true);
    const { body } = await service.get('/v1/event-keys', service.apiHeaders);
    expect(body.data.filter(({ name }: { name: string }) => name === 'Burst')).to.have.length(1);
  });

  it('a request whose process died is executed after its claim has expired', async () => {
    const event = { name: 'idem/x', data: { n: 1 } };
    const { body } = await post('/v1/events', event, 'dies');
    const [key] = (
      await Promise.all(
        (
          await service.redis.keys(`*${service.prefix}*:idempotent-response:*`)
        ).map(async (one) => ({
          one,
          ttl: await service.redis.pttl(one),
        })),
      )
    )
      .sort((a, b) => b.ttl - a.ttl)
      .map(({ one }) => one);
    await service.redis.pexpire(key as string, 1);
    await setTimeout(5);
    const again = await post('/v1/events', event, 'dies');
    expect(again.status).to.equal(201);
    expect(again.body.data.internal_id).not.to.equal(body.data.internal_id);
  });

  it('a response of more than 64 KiB is not stored, and the request is not executed again', async () => {
    const transform = `const transform = () => ({ name: 'a/b', data: { text: 'x'.repeat(70_000) } });`;
    const body = { transform, body: { n: 1 } };
    expect((await post('/v1/transforms/test', body, 'large')).status).to.equal(200);
    const second = await post('/v1/transforms/test', body, 'large');
    expect([second.status, second.body.code]).to.deep.equal([409, 'idempotency_response_gone']);
  });

  it('a key that is empty, too long or has a space is rejected', async () => {
    for (const key of ['with space', 'x'.repeat(256), '""']) {
      const { status, body } = await post('/v1/api-keys', made, key);
      expect([status, body.field], key).to.deep.equal([400, 'idempotency-key']);
    }
  });
});
