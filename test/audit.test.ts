import { expect } from 'chai';
import { addUser, keyHeaders, PASSWORD, sessionHeaders, signIn } from './support/identity.ts';
import { type Service, startService } from './support/service.ts';

interface Entry {
  id: string;
  who: { kind: string; id: string; name: string };
  action: string;
  target: string | null;
  summary: string;
  ip: string;
  request_id: string;
}

describe('the audit log', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    await addUser(service, 'ada@example.com', 'admin');
  });
  after(() => service.stop());

  const entries = async (query = '') => (await service.get(`/v1/audit${query}`)).body.data as Entry[];

  it('says who changed what, when and from where', async () => {
    const headers = await sessionHeaders(service, 'ada@example.com');
    const { body, headers: answered } = await service.post('/v1/api-keys', { name: 'CI', access: 'write' }, headers);
    const [entry] = await entries();
    expect(entry).to.deep.include({
      action: 'POST /v1/api-keys',
      target: body.data.id,
      summary: 'Make an API key, name CI, access write',
      ip: '127.0.0.1',
      request_id: answered.get('x-request-id'),
    });
    expect(entry?.who).to.include({ kind: 'user', name: 'ada@example.com' });
    const key = { authorization: `Bearer ${body.data.secret}` };
    await service.request('DELETE', `/v1/api-keys/${body.data.id}`, undefined, service.apiHeaders);
    expect((await entries())[0]).to.deep.include({
      who: { kind: 'setting', id: 'API_KEY', name: 'the setting API_KEY' },
      action: 'DELETE /v1/api-keys/:id',
      target: body.data.id,
    });
    expect((await service.get('/v1/events', key)).status).to.equal(401);
  });

  it('tells of signing in, and of failing to', async () => {
    await signIn(service, 'ada@example.com');
    expect((await entries())[0]).to.include({ action: 'sign-in', summary: 'Signed in' });
    await signIn(service, 'mallory@example.com', 'let me in');
    const [refused] = await entries();
    expect(refused).to.include({ action: 'sign-in refused', summary: 'sign_in_failed' });
    expect(refused?.who).to.deep.equal({ kind: 'user', id: '', name: 'mallory@example.com' });
  });

  it('tells of what is changed in Bull Board', async () => {
    const headers = await sessionHeaders(service, 'ada@example.com');
    const { status } = await service.request('PUT', '/queues/api/queues/pause', undefined, headers);
    expect(status).to.equal(200);
    expect((await entries())[0]).to.include({ action: 'PUT /queues/api/queues/pause' });
    await service.request('PUT', '/queues/api/queues/resume', undefined, headers);
  });

  it('does not tell of what was refused or only looked at', async () => {
    const [last] = await entries();
    await service.get('/v1/users');
    await service.post('/v1/api-keys', { name: '' }, service.apiHeaders);
    await service.request('DELETE', '/v1/api-keys/nope', undefined, service.apiHeaders);
    expect((await entries())[0]).to.deep.equal(last);
  });

  it('holds no secret', async () => {
    const key = await keyHeaders(service, 'read');
    await service.post('/v1/environments/branches/signing-key/rotate', undefined, service.apiHeaders);
    const signingKey = (await service.get('/v1/environments/branches/signing-key')).body.data.current;
    const text = JSON.stringify(await service.redis.xrange(`${service.prefix}:audit`, '-', '+'));
    for (const secret of [PASSWORD, 'let me in', signingKey, (key.authorization as string).slice('Bearer '.length)]) {
      expect(text).not.to.include(secret);
    }
  });

  it('is paged by cursor, each entry once', async () => {
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
