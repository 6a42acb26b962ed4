import { expect } from 'chai';
import { Redis } from 'ioredis';
import { keyHeaders } from '../support/auth.ts';
import { request } from '../support/http.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

interface Check {
  id: string;
  status: 'ok' | 'warning' | 'problem';
  message: string;
  remedy: string | null;
}

const PUBLIC_URL = 'https://events.example.com';

describe('health checks', () => {
  let service: Service;
  let own: OwnRedis | undefined;
  afterEach(async () => {
    own?.resume();
    await service.stop();
    await own?.remove();
    own = undefined;
  });

  async function health(): Promise<{ status: string; checks: Check[]; public_url: string | null }> {
    const { status, body } = await service.get('/v1/health/checks');
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.data;
  }

  const of = async (id: string) => (await health()).checks.filter((check) => check.id === id);

  it('GET /v1/health/checks reports nothing for a healthy installation', async () => {
    own = await startOwnRedis();
    service = await startService({ dev: false, env: { REDIS_URL: own.url, PUBLIC_URL, TRUST_PROXY: '1' } });
    await service.waitFor('/v1/overview', ({ body }) => body.data.processes.length === 2);
    const { status, checks, public_url } = await health();
    expect(checks.filter((check) => check.status !== 'ok')).to.deep.equal([]);
    expect([status, public_url]).to.deep.equal(['ok', PUBLIC_URL]);
    expect(new Set(checks.map(({ id }) => id))).to.include.all.keys(
      ...['redis', 'redis_version', 'redis_durability', 'redis_persistence', 'redis_memory', 'redis_clock'],
      ...['processes', 'process_clocks', 'apps', 'backpressure', 'queues', 'runs', 'archive'],
      ...['settings', 'secret_key', 'webhooks'],
    );
    const restricted = await keyHeaders(service, 'admin', 'production');
    expect((await service.get('/v1/health/checks', restricted)).status).to.equal(403);
  });

  it('GET /v1/health/checks reports missing workers, missing settings, and a fallback that is still set', async () => {
    const env = { SECRET_KEY_FALLBACK: 'former-secret-key-0123456789abcdef-0123456789', PUBLIC_URL };
    service = await startService({ dev: false, workers: 0, env });
    const [processes] = await of('processes');
    expect(processes).to.include({ status: 'problem' });
    expect(processes?.remedy).to.include('scripts/start worker');
    const [settings] = await of('settings');
    expect(settings).to.include({ status: 'warning' });
    expect(settings?.message).to.include('TRUST_PROXY');
    const [secretKey] = await of('secret_key');
    expect(secretKey).to.include({ status: 'warning', message: 'SECRET_KEY_FALLBACK is still set' });
    expect((await health()).status).to.equal('problem');
  });

  it('GET /v1/health/checks reports a Redis that may lose events, and one that is nearly full', async () => {
    own = await startOwnRedis();
    service = await startService({ workers: 0, env: { REDIS_URL: own.url } });
    const redis = new Redis(own.url);
    await redis.config('SET', 'appendonly', 'no');
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', String(Math.ceil(used * 1.1)));
    redis.disconnect();
    const [persistence] = await of('redis_persistence');
    expect(persistence).to.include({ status: 'problem', remedy: 'Set appendonly yes.' });
    const messages = (await of('redis_memory')).map(({ status, message }) => `${status}: ${message}`).join('\n');
    expect(messages)
      .to.include('problem: maxmemory-policy is allkeys-lru')
      .and.match(/warning: Redis uses \d+ %/);
  });

  it('GET /v1/health/checks responds within three seconds while Redis is silent', async () => {
    own = await startOwnRedis();
    service = await startService({ workers: 0, env: { REDIS_URL: own.url } });
    own.pause();
    const startedAt = performance.now();
    const { body } = await request('GET', `${service.url}/v1/health/checks`);
    expect(performance.now() - startedAt).to.be.lessThan(3_000);
    const [redis] = body.data.checks.filter(({ id }: Check) => id === 'redis');
    expect(redis).to.include({ status: 'problem', message: 'Redis does not respond' });
    expect(body.data.status).to.equal('problem');
    own.resume();
    await until(async () => (await of('redis'))[0]?.status === 'ok', { describe: () => 'Redis responds again' });
  });

  it('GET /v1/health/checks reports runs that no worker reconciles, and a process whose clock is wrong', async () => {
    service = await startService({ workers: 0 });
    const { redis, prefix } = service;
    await redis.zadd(`${prefix}:active-runs`, Date.now() - 3_600_000, 'production/01K00000000000000000000000');
    const [runs] = await of('runs');
    expect(runs).to.include({ status: 'problem' });
    expect(runs?.message).to.match(/^1 of 1 active runs/);
    const fast = { id: 'fast', kind: 'worker', host: 'elsewhere', pid: 7, startedAt: 0, memoryBytes: 1 };
    const status = JSON.stringify({ ...fast, seenAt: Date.now() + 60_000 });
    await redis.set(`${prefix}:process:fast`, status, 'PX', 60_000);
    await redis.zadd(`${prefix}:processes`, Date.now() + 60_000, 'fast');
    const [clocks] = await of('process_clocks');
    expect(clocks).to.include({ status: 'problem' });
    expect(clocks?.message).to.match(/^the clock of worker 7 on elsewhere is about (59|60) s ahead of/);
  });

  it('GET /v1/health/checks reports open issues of webhooks', async () => {
    service = await startService({ workers: 0 });
    const transform = "function transform() { throw new Error('no'); }";
    const { body } = await service.post('/v1/webhooks', { name: 'fails', transform });
    await request('POST', body.data.url, { body: '{}' });
    await until(async () => (await of('webhooks'))[0]?.status === 'problem', { describe: () => 'the issue is open' });
    expect((await of('webhooks')).map(({ message }) => message)).to.deep.equal([
      '1 with a transform or filter that fails',
    ]);
  });
});
