/** Who can still come in, and look, while Redis takes no writes. */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { totpCode } from '../../src/model/auth/totp.ts';
import { addUser, cookieOf, keyHeaders, signIn } from '../support/auth.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { Members } from '../support/second-factors.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('While Redis is out of memory', () => {
  let own: OwnRedis;
  let admin: Redis;
  let service: Service;
  before(async () => {
    own = await startOwnRedis();
    admin = new Redis(own.url);
    service = await startService({
      dev: false,
      workers: 0,
      // What Redis itself replies is the subject here.
      env: { REDIS_URL: own.url, REDIS_MEMORY_LIMIT_PERCENT: '0' },
    });
    await addUser(service, 'ada@example.com', 'admin');
  });
  after(async () => {
    await service.stop();
    admin.disconnect();
    await own.remove();
  });
  afterEach(() => admin.config('SET', 'maxmemory', '0'));
  const fill = () => admin.config('SET', 'maxmemory', '1mb');

  it('API keys stay valid, even keys that were never used', async () => {
    const key = await keyHeaders(service, 'read');
    await fill();
    expect((await service.get('/v1/events', key)).status).to.equal(200);
    await admin.config('SET', 'maxmemory', '0');
    const lastUsed = async () => {
      await service.get('/v1/events', key);
      const { data } = (await service.get('/v1/api-keys')).body;
      return data.at(-1).last_used_at;
    };
    await until(lastUsed, { describe: 'its use is written down once there is room' });
  });

  it('sessions stay valid, and other users can sign in', async () => {
    const before = cookieOf(await signIn(service, 'ada@example.com'));
    await fill();
    expect((await service.get('/v1/users', before)).status).to.equal(200);
    const response = await signIn(service, 'ada@example.com');
    expect(response.status).to.equal(200);
    expect((await service.get('/v1/users', cookieOf(response))).status).to.equal(200);
  });

  it('a second factor is asked for and accepted, once', async () => {
    const members = new Members(service);
    const { email, secret } = await members.addWithTotp('bob@example.com');
    await fill();
    const [one, two] = [await members.begin(email), await members.begin(email)];
    const code = totpCode(secret, Date.now());
    expect([(await members.giveCode(one, code)).status, await members.isSignedIn(one)]).to.deep.equal([303, true]);
    expect((await members.giveCode(two, code)).status).to.equal(401);
  });

  it('events are rejected with 503, and accepted as soon as there is room, even many at once', async () => {
    const batch = Array.from({ length: 600 }, (_, n) => ({ name: 'full/x', data: { n, pad: 'x'.repeat(100) } }));
    await fill();
    for (let tries = 0; tries < 3; tries++) expect((await service.post(service.eventPath, batch)).status).to.equal(503);
    await admin.config('SET', 'maxmemory', '0');
    const statuses: number[] = [];
    await until(
      async () => {
        const { status } = await service.post(service.eventPath, batch);
        statuses.push(status);
        return status === 200;
      },
      { describe: 'they are taken' },
    );
    expect(statuses.filter((status) => status !== 200 && status !== 503)).to.deep.equal([]);
  });

  it('keys and webhooks can be deleted, and the audit log records it', async () => {
    const made = [];
    for (const [path, body] of [
      ['/v1/webhooks', { name: 'w', transform: 'function transform() {}' }],
      ['/v1/event-keys', { name: 'e', environment: 'production' }],
      ['/v1/api-keys', { name: 'a', access: 'read' }],
    ] as const) {
      const { body: responseBody } = await service.post(path, body, service.apiHeaders);
      made.push([path, responseBody.data.id]);
    }
    await fill();
    for (const [path, id] of made) {
      expect((await service.request('DELETE', `${path}/${id}`, undefined, service.apiHeaders)).status).to.equal(204);
      const [entry] = (await service.get('/v1/audit')).body.data;
      expect(entry).to.include({ action: `DELETE ${path}/:id`, target: id });
    }
  });

  it('wrong passwords are counted', async () => {
    await fill();
    const statuses = [];
    for (let n = 0; n < 7; n++) statuses.push((await signIn(service, 'mallory@example.com', 'guess')).status);
    expect(statuses).to.deep.equal([401, 401, 401, 401, 401, 429, 429]);
  });
});

describe('While Redis rejects all writes, for example with a full disk', () => {
  it('keys and sessions are valid, and sign-ins get 503 with Retry-After', async () => {
    const own = await startOwnRedis();
    const admin = new Redis(own.url);
    const service = await startService({
      dev: false,
      workers: 0,
      // What Redis itself replies is the subject here.
      env: { REDIS_URL: own.url, REDIS_MEMORY_LIMIT_PERCENT: '0' },
    });
    try {
      await addUser(service, 'ada@example.com', 'admin');
      const session = cookieOf(await signIn(service, 'ada@example.com'));
      const key = await keyHeaders(service, 'read');
      await admin.config('SET', 'min-replicas-to-write', '1');
      expect((await service.get('/v1/events', key)).status).to.equal(200);
      expect((await service.get('/v1/events', session)).status).to.equal(200);
      const response = await signIn(service, 'ada@example.com');
      expect([response.status, response.body.code]).to.deep.equal([503, 'unavailable']);
      expect(response.headers.get('retry-after')).to.match(/^\d+$/);
      await until(() => service.output().includes('NOREPLICAS'), { describe: 'the log says why' });
      expect(service.output()).not.to.include('startSession').and.not.to.include('evalsha');
    } finally {
      await service.stop();
      admin.disconnect();
      await own.remove();
    }
  });
});
