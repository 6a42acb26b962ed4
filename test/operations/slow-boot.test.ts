import { expect } from 'chai';
import { type RedisProxy, startRedisProxy } from '../../chaos/faults/redis-proxy.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Longer than a request waits for Redis. */
const SLOW_MS = 2_500;

describe('A web process that starts while Redis is slow', () => {
  let redis: OwnRedis;
  let proxy: RedisProxy;
  let service: Service | undefined;
  beforeEach(async () => {
    redis = await startOwnRedis();
    proxy = await startRedisProxy(redis.url);
  });
  afterEach(async () => {
    proxy.delay(() => 0);
    await service?.stop();
    service = undefined;
    await proxy.close();
    await redis.remove();
  });

  const send = () => (service as Service).post('/e/key', { name: 'slow/x', data: {} });
  const ready = async () => (await (service as Service).get('/readyz')).status;

  it('accepts events as soon as Redis is fast again, without a restart', async () => {
    // The connections wait for the first replies to INFO; later ones are slow.
    let infos = 0;
    proxy.delay((reply) => (reply.includes('redis_version:') && ++infos > 2 ? SLOW_MS : 0));
    service = await startService({ workers: 0, env: { REDIS_URL: proxy.url } });
    // Responses to commands from the boot are still slow. A new connection is fast.
    proxy.delay(() => 0);
    await until(async () => (await send()).status === 200, { describe: 'it takes events' });
    // It has also read what it keeps in memory.
    await until(async () => (await ready()) === 200, { describe: 'it is ready' });
  });

  it('is not ready, and responds with 503 to senders, until Redis replies in time', async () => {
    proxy.delay(() => SLOW_MS);
    service = await startService({ workers: 0, env: { REDIS_URL: proxy.url } });
    expect([await ready(), (await send()).status]).to.deep.equal([503, 503]);
    proxy.delay(() => 0);
    await until(async () => (await ready()) === 200, { describe: 'it is ready' });
    const sent = await send();
    expect([sent.status, sent.body.error]).to.deep.equal([200, undefined]);
  });
});
