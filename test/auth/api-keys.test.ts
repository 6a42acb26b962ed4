import { expect } from 'chai';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('API keys', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, webs: 2, workers: 0 });
  });
  after(() => service.stop());

  const make = async (body: object) => (await service.post('/v1/api-keys', body, service.apiHeaders)).body.data;
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const listed = async (id: string) =>
    (await service.get('/v1/api-keys')).body.data.find((key: { id: string }) => key.id === id);

  it('POST /v1/api-keys shows the secret once and stores its hash', async () => {
    const { secret, ...key } = await make({ name: 'CI', access: 'read' });
    expect(secret).to.match(/^api-[\w-]{43}$/);
    expect(key).to.include({ name: 'CI', access: 'read', environment: null, created_by: 'the setting API_KEY' });
    expect(secret.endsWith(key.hint)).to.equal(true);
    expect(await listed(key.id)).to.deep.equal(key);
    const kept = JSON.stringify(await service.redis.hgetall(`${service.prefix}:api-keys`));
    expect(kept).to.include('CI').and.not.to.include(secret);
  });

  it('an API key works at once at every web process, and its last use is shown', async () => {
    const { secret, id } = await make({ name: 'both', access: 'read' });
    expect((await listed(id)).last_used_at).to.equal(null);
    for (const url of service.urls) {
      expect((await fetch(`${url}/v1/events`, { headers: bearer(secret) })).status).to.equal(200);
    }
    expect(Date.parse((await listed(id)).last_used_at)).to.be.closeTo(Date.now(), 10_000);
  });

  it('DELETE /v1/api-keys/:id revokes the key at once', async () => {
    const { secret, id } = await make({ name: 'short-lived', access: 'admin' });
    expect((await service.get('/v1/users', bearer(secret))).status).to.equal(200);
    expect((await service.request('DELETE', `/v1/api-keys/${id}`, undefined, service.apiHeaders)).status).to.equal(204);
    expect((await service.get('/v1/users', bearer(secret))).status).to.equal(401);
    const other = async () => (await fetch(`${service.urls[1]}/v1/users`, { headers: bearer(secret) })).status === 401;
    await until(other, { describe: 'the other process has heard of it' });
    const again = await service.request('DELETE', `/v1/api-keys/${id}`, undefined, service.apiHeaders);
    expect([again.status, again.body.code]).to.deep.equal([404, 'not_found']);
  });

  it('an API key with read access does not see the URLs of webhooks', async () => {
    const [reader, writer] = [await make({ name: 'r', access: 'read' }), await make({ name: 'w', access: 'write' })];
    const { body } = await service.post('/v1/webhooks', { name: 'secret URL' }, bearer(writer.secret));
    const { id, url } = body.data;
    expect((await service.get(`/v1/webhooks/${id}`, bearer(writer.secret))).body.data.url).to.equal(url);
    expect((await service.get(`/v1/webhooks/${id}`, bearer(reader.secret))).body.data.url).to.equal(null);
    const list = JSON.stringify((await service.get('/v1/webhooks', bearer(reader.secret))).body);
    expect(list).to.include(id).and.not.to.include(url.split('/e/')[1]);
  });

  it('an API key of an environment selects it by default and cannot access others', async () => {
    const { secret } = await make({ name: 'prod only', access: 'write', environment: 'production' });
    expect((await service.get('/v1/events', bearer(secret))).status).to.equal(200);
    const elsewhere = await service.get('/v1/events', { ...bearer(secret), 'x-service-env': 'staging' });
    expect([elsewhere.status, elsewhere.body.code]).to.deep.equal([403, 'access_denied']);
    expect(elsewhere.body.error).to.include('"production"').and.to.include('"staging"');
    const queried = await service.get('/v1/events?x-service-env=staging', bearer(secret));
    expect(queried.status).to.equal(403);
  });

  it('POST /v1/api-keys rejects an unknown environment', async () => {
    const { status, body } = await service.post(
      '/v1/api-keys',
      { name: 'x', access: 'read', environment: 'nowhere' },
      service.apiHeaders,
    );
    expect([status, body.code]).to.deep.equal([404, 'environment_unknown']);
  });

  it('an API key in the URL or as Basic credentials is not accepted', async () => {
    const { secret } = await make({ name: 'bearer only', access: 'read' });
    const basic = { authorization: `Basic ${Buffer.from(`x:${secret}`).toString('base64')}` };
    expect((await service.get('/v1/events', basic)).status).to.equal(401);
    expect((await service.get(`/v1/events?api_key=${secret}`, {})).status).to.equal(401);
  });
});
