import { expect } from 'chai';
import { Redis } from 'ioredis';
import { hashedKey } from '../../src/functions/signing.ts';
import { request } from '../support/http.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { SECRETS, type Service, startService } from '../support/service.ts';

const FLOOD = 600;
/** Asking for each would be one read a request, or more. Sharing leaves one each 20 ms, and what a process reads by itself. */
const MOST_READS = (3 * FLOOD) / 4;
const WRONG = `Bearer ${hashedKey(`signkey-test-${'ab'.repeat(32)}`)}`;

/** Commands that read, so far. */
async function readsOf(stats: Redis, commands = ['get', 'hget', 'hvals', 'mget', 'hgetall']): Promise<number> {
  const told = await stats.info('commandstats');
  const counts = commands.map((name) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(told)?.[1] ?? 0));
  return counts.reduce((sum, count) => sum + count, 0);
}

describe('Events sent with an unknown key in dev mode', () => {
  it('look the key up once, however many are sent', async () => {
    const redis = await startOwnRedis();
    const stats = new Redis(redis.url);
    const service = await startService({ workers: 0, env: { REDIS_URL: redis.url } });
    try {
      const SENT = 200;
      // An accepted event has reads of its own: of hashes.
      const before = await readsOf(stats, ['get']);
      for (let n = 0; n < SENT; n++) {
        expect((await service.post('/e/any-key', { name: 'any/x', data: {} })).status).to.equal(200);
      }
      expect((await readsOf(stats, ['get'])) - before).to.be.below(SENT / 2);
    } finally {
      await service.stop();
      stats.disconnect();
      await redis.remove();
    }
  });
});

describe('Unauthenticated requests', () => {
  let redis: OwnRedis;
  let stats: Redis;
  let service: Service;
  before(async () => {
    redis = await startOwnRedis();
    stats = new Redis(redis.url);
    // A signing key of its own making is read from Redis, one of a setting is not.
    const env = { REDIS_URL: redis.url, SIGNING_KEY: '' };
    service = await startService({ dev: false, workers: 0, webs: 2, env });
  });
  after(async () => {
    await service.stop();
    stats.disconnect();
    await redis.remove();
  });

  async function flood(ask: (n: number) => Promise<number>, status: number): Promise<number> {
    const before = await readsOf(stats);
    const responses = await Promise.all(Array.from({ length: FLOOD }, (_, n) => ask(n)));
    expect(new Set(responses)).to.deep.equal(new Set([status]));
    return (await readsOf(stats)) - before;
  }

  const sent = async (path: string, headers: Record<string, string> = {}) =>
    (await service.post(path, { name: 'x', data: {} }, headers)).status;

  it('do not cause a Redis read for each key', async () => {
    expect(await flood((n) => sent(`/e/guess-${n}`), 401)).to.be.below(MOST_READS);
    const api = async (n: number) => (await service.get('/v1/events', { authorization: `Bearer guess-${n}` })).status;
    expect(await flood(api, 401)).to.be.below(MOST_READS);
  });

  it('do not cause a Redis read for each environment', async () => {
    const register = (n: number) => sent('/fn/register', { authorization: WRONG, 'x-service-env': `branch-${n}` });
    expect(await flood(register, 401)).to.be.below(MOST_READS);
    const read = async (n: number) => {
      const headers = { authorization: WRONG, 'x-service-env': `branch-${n}` };
      return (await service.get('/v0/runs/x/actions', headers)).status;
    };
    expect(await flood(read, 401)).to.be.below(MOST_READS);
  });

  it('do not delay a request whose key another process has just created', async () => {
    const [first, second] = service.urls as [string, string];
    const api = { headers: { authorization: `Bearer ${SECRETS.API_KEY}` } };
    const guessing = Promise.all(Array.from({ length: 300 }, (_, n) => request('POST', `${second}/e/other-${n}`)));
    for (let n = 0; n < 10; n++) {
      const made = await request('POST', `${first}/v1/event-keys`, { ...api, body: { name: `k${n}` } });
      const body = { name: 'fresh/x', data: {} };
      const response = await request('POST', `${second}/e/${made.body.data.secret}`, { body });
      expect(response.status).to.equal(200);
      const hook = await request('POST', `${first}/v1/webhooks`, { ...api, body: { name: `h${n}` } });
      const path = new URL(hook.body.data.url).pathname;
      expect((await request('POST', second + path, { body })).status).to.equal(200);
      const branch = { name: `b${n}`, kind: 'branch' };
      await request('POST', `${first}/v1/environments`, { ...api, body: branch });
      const selected = { headers: { ...api.headers, 'x-service-env': branch.name } };
      expect((await request('GET', `${second}/v1/events`, selected)).status).to.equal(200);
    }
    await guessing;
  });
});
