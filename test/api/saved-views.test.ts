import { expect } from 'chai';
import { addUser, keyHeaders, sessionHeaders } from '../support/auth.ts';
import { type Service, startService } from '../support/service.ts';

const VIEW = { list: 'runs', name: 'Failed today', query: 'status=Failed&from=24h' };

describe('Saved views', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
  });
  after(() => service.stop());

  const list = async (headers: Record<string, string>) => (await service.get('/v1/views', headers)).body.data;
  const save = (view: object, headers: Record<string, string>) => service.post('/v1/views', view, headers);

  it('belong to a user and an environment', async () => {
    await addUser(service, 'ada@example.com', 'member');
    await addUser(service, 'grace@example.com', 'member');
    const ada = await sessionHeaders(service, 'ada@example.com');
    const { status, body } = await save(VIEW, ada);
    expect([status, body.data]).to.deep.equal([201, { ...VIEW, id: body.data.id, created_at: body.data.created_at }]);
    expect(await list(ada)).to.deep.equal([body.data]);
    expect(await list(await sessionHeaders(service, 'grace@example.com'))).to.deep.equal([]);
    expect(await list(service.apiHeaders)).to.deep.equal([]);
    await service.post('/v1/environments', { name: 'staging', kind: 'named' }, service.apiHeaders);
    expect(await list({ ...ada, 'x-service-env': 'staging' })).to.deep.equal([]);
  });

  it('are replaced when another is saved under the same name, and can be deleted', async () => {
    const first = (await save({ ...VIEW, name: 'Mine' }, service.apiHeaders)).body.data;
    const second = (await save({ ...VIEW, name: 'Mine', query: 'status=Queued' }, service.apiHeaders)).body.data;
    expect(second).to.deep.equal({ ...first, query: 'status=Queued' });
    expect(await list(service.apiHeaders)).to.deep.equal([second]);
    const remove = () => service.request('DELETE', `/v1/views/${first.id}`, undefined, service.apiHeaders);
    expect((await remove()).status).to.equal(204);
    expect((await remove()).body.code).to.equal('not_found');
    expect(await list(service.apiHeaders)).to.deep.equal([]);
  });

  it('of the installation cannot be changed with a read-only API key', async () => {
    const reader = await keyHeaders(service, 'read', 'production');
    expect((await save(VIEW, reader)).body.code).to.equal('access_denied');
    expect((await service.request('DELETE', '/v1/views/x', undefined, reader)).body.code).to.equal('access_denied');
  });

  it('are limited in size and number', async () => {
    for (const wrong of [
      { ...VIEW, query: `q=${'x'.repeat(2_048)}` },
      { ...VIEW, query: '//example.com/?x y' },
      { ...VIEW, name: 'x'.repeat(65) },
      { ...VIEW, name: ' ' },
      { ...VIEW, list: 'users' },
    ]) {
      expect((await save(wrong, service.apiHeaders)).status, JSON.stringify(wrong).slice(0, 80)).to.equal(400);
    }
    for (let n = 0; n < 100; n++) await save({ ...VIEW, name: `View ${n}` }, service.apiHeaders);
    const { status, body } = await save({ ...VIEW, name: 'One more' }, service.apiHeaders);
    expect([status, body.code]).to.deep.equal([403, 'quota_exceeded']);
    expect((await save({ ...VIEW, name: 'View 7' }, service.apiHeaders)).status).to.equal(201);
  });

  it('are deleted with their user', async () => {
    await addUser(service, 'linus@example.com', 'member');
    const headers = await sessionHeaders(service, 'linus@example.com');
    await save(VIEW, headers);
    const { body } = await service.get('/v1/users', service.apiHeaders);
    const { id } = body.data.find(({ email }: { email: string }) => email === 'linus@example.com');
    const key = `${service.prefix}:saved-views:production:user-${id}`;
    expect(await service.redis.exists(key)).to.equal(1);
    await service.request('DELETE', `/v1/users/${id}`, undefined, service.apiHeaders);
    expect(await service.redis.exists(key)).to.equal(0);
  });
});
