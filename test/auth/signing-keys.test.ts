import { resolve } from 'node:path';
import { expect } from 'chai';
import { hashedKey } from '../../src/functions/signing.ts';
import { BRANCHES } from '../../src/model/environment.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { startOwnRedis } from '../support/own-redis.ts';
import { openStore } from '../support/own-store.ts';
import { must } from '../support/program.ts';
import { SECRETS, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('signing keys', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ dev: false, env: { SIGNING_KEY: '' } });
    host = await startAppHost();
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const path = (env: string) => `/v1/environments/${encodeURIComponent(env)}/signing-key`;
  const read = async (env: string) => (await service.get(path(env))).body.data;
  const rotate = async (env: string) =>
    (await service.post(`${path(env)}/rotate`, undefined, service.apiHeaders)).body.data;
  const proof = (key: string) => ({ authorization: `Bearer ${hashedKey(key)}` });
  const registration = () => host.registration([{ id: 'f', triggers: [{ event: 'signed/x' }] }], {});
  const register = (key: string, env?: string) =>
    service.post('/fn/register', registration(), {
      'x-service-sdk': 'test:v1.0.0',
      ...proof(key),
      ...(env && { 'x-service-env': env }),
    });
  async function makeNamed(name: string): Promise<void> {
    const environment = { name, kind: 'named', createdAt: Date.now() };
    await service.redis.hset(`${service.prefix}:environments`, name, JSON.stringify(environment));
  }

  it('signing keys are created on first use, one per environment and one for all branches', async () => {
    await makeNamed('staging');
    const [production, staging, branches] = [await read('production'), await read('staging'), await read('branches')];
    expect(production).to.include({ environment: 'production', fallback: null, given: false });
    expect(production.current).to.match(/^signkey-production-[0-9a-f]{64}$/);
    expect(branches.current).to.match(/^signkey-branch-[0-9a-f]{64}$/);
    expect(new Set([production.current, staging.current, branches.current]).size).to.equal(3);
    expect(await read('production')).to.deep.equal(production);
  });

  it('signing keys are encrypted in Redis', async () => {
    const { current } = await read('production');
    const kept = JSON.stringify(await service.redis.hgetall(`${service.prefix}:signing-keys`));
    expect(kept).to.include('v1.').and.not.to.include(current.split('-')[2]);
  });

  it('a signing key lets an app into its own environment only', async () => {
    await makeNamed('qa');
    const keys = { production: await read('production'), qa: await read('qa'), branch: await read('branches') };
    const allowed: [string, string | undefined][] = [
      ['production', undefined],
      ['production', 'production'],
      ['qa', 'qa'],
      ['branch', 'feature-x'],
      ['branch', 'feature-y'],
    ];
    for (const env of [undefined, 'production', 'qa', 'feature-x', 'feature-y', 'feature-z']) {
      for (const owner of ['production', 'qa', 'branch'] as const) {
        if (allowed.some(([may, where]) => may === owner && where === env)) continue;
        if (owner === 'branch' && env === 'feature-z') continue;
        expect((await register(keys[owner].current, env)).status, `${owner} → ${env}`).to.equal(401);
      }
    }
    for (const [owner, env] of allowed) {
      const { status, body } = await register(keys[owner as keyof typeof keys].current, env);
      expect(status, `${owner} → ${env}: ${JSON.stringify(body)}`).to.equal(200);
    }
  });

  it('POST /v1/environments/:name/signing-key/rotate accepts the previous key and rejects the one before', async () => {
    const first = await read('production');
    const second = await rotate('production');
    expect(second.fallback).to.equal(first.current);
    expect((await register(second.current)).status).to.equal(200);
    expect((await register(first.current)).status).to.equal(200);
    const third = await rotate('production');
    expect((await register(third.current)).status).to.equal(200);
    expect((await register(first.current)).status).to.equal(401);
  });

  it('calls are signed with the key of their environment', async () => {
    const { current } = await read('production');
    expect((await register(current)).status).to.equal(200);
    await service.post(service.eventPath, { name: 'signed/x', data: {} });
    const call = await host.nextCall('f');
    const { createHmac } = await import('node:crypto');
    const [, t, s] = /^t=(\d+)&s=([0-9a-f]+)$/.exec(String(call.headers['x-service-signature'])) ?? [];
    const mac = createHmac('sha256', current.split('-')[2]).update(call.raw).update(String(t));
    expect(s).to.equal(mac.digest('hex'));
  });

  it('GET /v1/environments/:name/signing-key rejects an unknown environment', async () => {
    const { status, body } = await service.get(path('nowhere'));
    expect([status, body.code]).to.deep.equal([404, 'environment_unknown']);
  });
});

/** More requests in a row than Redis is read for at once. */
const FLOOD = 25;

describe('A signing key in Redis', () => {
  it('lets in a request that proves it before a flood of those that do not is refused', async () => {
    const { signingKeys, close } = await openStore();
    try {
      const { current } = await signingKeys.of(BRANCHES);
      const prove = (isProven: boolean) => signingKeys.find(BRANCHES, (key) => isProven && key === current);
      const isAhead = async () => {
        for (let n = 0; n < FLOOD; n++) await prove(false);
        return (await Promise.race([prove(false), prove(true)])) === current;
      };
      // A busy machine may be slower than a flood.
      await until(isAhead, { describe: 'the app is not behind the flood' });
      expect(await prove(false)).to.equal(undefined);
    } finally {
      await close();
    }
  });

  it('is refused soon after another process has rotated it twice', async () => {
    const one = await openStore();
    const other = await openStore(one.prefix);
    try {
      const { current } = await one.signingKeys.of(BRANCHES);
      const find = () => one.signingKeys.find(BRANCHES, (key) => key === current);
      expect(await find()).to.equal(current);
      await other.signingKeys.rotate(BRANCHES);
      expect(await find()).to.equal(current);
      await other.signingKeys.rotate(BRANCHES);
      await until(async () => (await find()) === undefined, { describe: 'the key is refused' });
    } finally {
      await Promise.all([one, other].map((store) => store.close()));
    }
  });
});

/** @returns whether another key has encrypted everything since; the value that checks the key comes last */
async function reencryptionOf(service: Service): Promise<() => Promise<boolean>> {
  const checkValue = () => service.redis.get(`${service.prefix}:secret-key-check`);
  const before = await checkValue();
  return async () => (await checkValue()) !== before;
}

describe('SECRET_KEY', () => {
  it('SECRET_KEY can be changed with SECRET_KEY_FALLBACK without losing stored secrets', async () => {
    const service = await startService({ dev: false, workers: 0, env: { SIGNING_KEY: '' } });
    try {
      const path = '/v1/environments/production/signing-key';
      const { current } = (await service.get(path)).body.data;
      const isReencrypted = await reencryptionOf(service);
      service.env.SECRET_KEY_FALLBACK = SECRETS.SECRET_KEY;
      service.env.SECRET_KEY = 'another-secret-key-0123456789abcdef';
      await service.startWeb();
      await until(isReencrypted, { describe: 'all secrets are re-encrypted' });
      delete service.env.SECRET_KEY_FALLBACK;
      await service.startWeb();
      const response = await fetch(service.urls[2] + path, { headers: service.apiHeaders });
      expect(((await response.json()) as { data: { current: string } }).data.current).to.equal(current);
    } finally {
      await service.stop();
    }
  });

  it('a change of SECRET_KEY re-encrypts the secrets of webhooks, and they still verify', async () => {
    const service = await startService({ dev: false, workers: 0 });
    try {
      const { url } = await createWebhook(service, 'Shop');
      const isReencrypted = await reencryptionOf(service);
      service.env.SECRET_KEY_FALLBACK = SECRETS.SECRET_KEY;
      service.env.SECRET_KEY = 'another-secret-key-0123456789abcdef';
      await service.startWeb();
      await until(isReencrypted, { describe: 'all secrets are re-encrypted' });
      delete service.env.SECRET_KEY_FALLBACK;
      await service.startWeb();
      const path = new URL(url).pathname;
      const statusOf = async (key: string) => {
        const response = await fetch(service.urls[2] + path, { method: 'POST', headers: { 'x-key': key }, body: '{}' });
        await response.body?.cancel();
        return response.status;
      };
      expect([await statusOf('the key'), await statusOf('another')]).to.deep.equal([200, 401]);
    } finally {
      await service.stop();
    }
  });

  it('webhooks whose secrets were encrypted with a lost key are listed, and reject their requests until they have new secrets', async () => {
    const service = await startService({ dev: false, workers: 0 });
    try {
      const { url } = await createWebhook(service, 'Shop');
      service.env.SECRET_KEY = 'another-secret-key-0123456789abcdef';
      const said = await service.startWeb().catch((error: Error) => error.message);
      expect(said).to.match(/the secrets of the webhooks \\?"Shop/);
      await service.redis.del(`${service.prefix}:secret-key-check`);
      await service.startWeb();
      await service.logs('does not decrypt the secrets of these webhooks', 'Shop');
      const env = { ...service.env, PUBLIC_URL: 'https://events.example.com' };
      expect(await must('node', ['src/release.ts'], { cwd: ROOT, env })) //
        .to.include('SECRET_KEY does not decrypt the secrets of the webhooks "Shop"');
      const response = await fetch(service.urls[1] + new URL(url).pathname, { method: 'POST', body: '{}' });
      const { reason } = (await response.json()) as { reason: string };
      expect([response.status, reason]).to.deep.equal([401, 'secret_unreadable']);
    } finally {
      await service.stop();
    }
  });

  async function createWebhook(service: Service, name: string): Promise<{ id: string; url: string }> {
    const verification = { scheme: 'token', token: { at: 'header:x-key' } };
    const input = { name, provider: 'api-key', verification, secrets: ['the key'] };
    const { status, body } = await service.post('/v1/webhooks', input, service.apiHeaders);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  describe('wrong SECRET_KEY', () => {
    const ANOTHER = 'another-secret-key-0123456789abcdef';

    async function expectRejections(service: Service): Promise<void> {
      const env = { ...service.env, PUBLIC_URL: 'https://events.example.com' };
      const starts = await Promise.allSettled([
        service.startWeb(),
        service.startWorker(),
        must('node', ['src/release.ts'], { cwd: ROOT, env }),
      ]);
      for (const start of starts) {
        const said = start.status === 'rejected' ? String(start.reason) : 'it started';
        expect(said)
          .to.include('SECRET_KEY: neither it nor SECRET_KEY_FALLBACK decrypts')
          .and.match(/exit code 1|ended with 1/);
      }
    }

    it('a wrong SECRET_KEY stops every process and the release command', async () => {
      const service = await startService({ processes: true, dev: false, workers: 0 });
      try {
        service.env.SECRET_KEY = ANOTHER;
        // A wrong fallback does not help; with the right one every process starts.
        service.env.SECRET_KEY_FALLBACK = 'a-third-secret-key-0123456789abcdef';
        await expectRejections(service);
        service.env.SECRET_KEY_FALLBACK = SECRETS.SECRET_KEY;
        await Promise.all([service.startWeb(), service.startWorker()]);
      } finally {
        await service.stop();
      }
    });

    it('a wrong SECRET_KEY stops the start even if the secrets are of an earlier version, and the message says how to fix it', async () => {
      const service = await startService({ dev: false, workers: 0, env: { SIGNING_KEY: '' } });
      try {
        const path = '/v1/environments/production/signing-key';
        const { current } = (await service.get(path)).body.data;
        await service.redis.del(`${service.prefix}:secret-key-check`);
        service.env.SECRET_KEY = ANOTHER;
        const said = await service.startWeb().catch((error: Error) => error.message);
        expect(said).to.include('decrypts the signing key of production');
        const keys = ['signing-keys', 'secret-key-check'].map((key) => `${service.prefix}:${key}`);
        for (const key of keys) expect(said).to.include(key);
        await service.redis.del(keys);
        await service.startWeb();
        const response = await fetch(service.urls[1] + path, { headers: service.apiHeaders });
        expect(((await response.json()) as { data: { current: string } }).data.current).not.to.equal(current);
      } finally {
        await service.stop();
      }
    });

    it('a web process that started without Redis stays unready and exits when it finds a wrong SECRET_KEY', async () => {
      const own = await startOwnRedis();
      const service = await startService({ dev: false, workers: 0, env: { REDIS_URL: own.url } });
      try {
        await own.stop();
        service.env.SECRET_KEY = ANOTHER;
        const web = await service.startWeb();
        expect((await fetch(`${service.urls[1]}/livez`)).status).to.equal(200);
        expect((await fetch(`${service.urls[1]}/readyz`)).status).to.equal(503);
        await own.start();
        await until(() => !web.running(), { describe: 'it has ended' });
        expect(web.output()).to.include('SECRET_KEY: neither it nor SECRET_KEY_FALLBACK decrypts');
        service.webs.pop();
      } finally {
        await service.stop();
        await own.remove();
      }
    });
  });

  it('a web process that started without Redis becomes ready once Redis is there and SECRET_KEY is right', async () => {
    const own = await startOwnRedis();
    await own.stop();
    const service = await startService({ dev: false, workers: 0, env: { REDIS_URL: own.url } });
    try {
      expect((await service.get('/readyz')).status).to.equal(503);
      await own.start();
      await service.waitFor('/readyz', ({ status }) => status === 200);
    } finally {
      await service.stop();
      await own.remove();
    }
  });

  it('SIGNING_KEY defines the signing key of production, which then cannot be rotated by the API', async () => {
    const service = await startService({ dev: false, workers: 0 });
    try {
      const path = '/v1/environments/production/signing-key';
      expect((await service.get(path)).body.data).to.include({ current: SECRETS.SIGNING_KEY, given: true });
      const { status, body } = await service.post(`${path}/rotate`, undefined, service.apiHeaders);
      expect([status, body.code]).to.deep.equal([409, 'signing_key_given']);
    } finally {
      await service.stop();
    }
  });
});
