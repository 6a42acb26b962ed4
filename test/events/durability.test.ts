import { resolve } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { startAppHost } from '../support/app-host.ts';
import { type FakeRedis, startFakeRedis } from '../support/fake-redis.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { run } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const FSYNC = { INGEST_DURABILITY: 'fsync' };
const ROOT = resolve(import.meta.dirname, '../..');

describe('INGEST_DURABILITY=fsync', () => {
  let own: OwnRedis;
  let admin: Redis;
  let fake: FakeRedis;
  let service: Service | undefined;
  beforeEach(async () => {
    own = await startOwnRedis();
    admin = new Redis(own.url);
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
    admin.disconnect();
    await fake.close();
    await own.remove();
  });

  async function start(
    version: '7.0' | '7.2',
    workers = 0,
    dev = true,
    env: object = FSYNC,
    processes = false,
  ): Promise<Service> {
    fake = await startFakeRedis(own.url, version);
    service = await startService({
      dev,
      workers,
      processes,
      env: { ...env, REDIS_URL: fake.url, STALLED_AFTER_SECONDS: '1' },
    });
    return service;
  }

  const send = (id: string) =>
    (service as Service).post((service as Service).eventPath, { id, name: 'disk/x', data: {} });

  describe('by default, where Redis syncs every write', () => {
    const AUTO = { LOG_LEVEL: 'info' };
    const says = (what: string) => until(() => service?.output().includes(what), { describe: `the log says: ${what}` });

    it('is promised in production, and the log says so', async () => {
      await start('7.2', 0, false, AUTO);
      expect((await send('a')).status).to.equal(200);
      expect(fake.asked()).to.equal(1);
      await says("an event is acknowledged when it is on Redis's disk");
    });

    it('is fulfilled by a Redis before 7.2 that responds after the sync', async () => {
      await start('7.0', 0, false, AUTO);
      expect((await send('a')).status).to.equal(200);
      expect(fake.asked()).to.equal(0);
      await says("an event is acknowledged when it is on Redis's disk");
    });

    it('does not apply in dev mode', async () => {
      await start('7.2', 0, true, AUTO);
      expect((await send('a')).status).to.equal(200);
      expect(fake.asked()).to.equal(0);
    });

    for (const [what, ...command] of [
      ['syncs once a second', 'CONFIG', 'SET', 'appendfsync', 'everysec'],
      ['has no file', 'CONFIG', 'SET', 'appendonly', 'no'],
      ['does not allow reading its settings', 'ACL', 'SETUSER', 'default', '-config'],
    ] as const) {
      it(`with a Redis that ${what}, web and worker start and log what is promised`, async () => {
        await admin.call(...(command as [string, ...string[]]));
        await start('7.2', 1, false, AUTO);
        expect((await send('a')).status).to.equal(200);
        expect(fake.asked()).to.equal(0);
        await says('an event is acknowledged when Redis has it: what Redis has not synced to its disk is lost');
        const env = { ...service?.env, PUBLIC_URL: 'https://events.example.com' };
        const { exitCode, output } = await run('node', ['src/release.ts'], { cwd: ROOT, env });
        expect([exitCode, output.includes('warning: INGEST_DURABILITY is auto')]).to.deep.equal([0, true]);
      });
    }

    it('is evaluated again after a failover, since another server may promise less or more', async () => {
      await start('7.2', 0, false, AUTO);
      expect((await send('a')).status).to.equal(200);
      const reconnect = () => admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await admin.config('SET', 'appendfsync', 'everysec');
      await reconnect();
      await says('an event is acknowledged when Redis has it');
      const before = fake.asked();
      await until(async () => (await send('b')).status === 200, { describe: 'events are taken in' });
      expect(fake.asked()).to.equal(before);
      await admin.config('SET', 'appendfsync', 'always');
      await reconnect();
      await until(async () => (await send('c')).status === 200 && fake.asked() > before, {
        describe: 'it asks again',
      });
    });
  });

  describe('with a Redis before 7.2', () => {
    /** Each process that looks at boot, and what it says as it refuses. */
    async function refusals(url = fake.url): Promise<string[]> {
      const env = { MODE: 'dev', DISCOVERY: 'false', PORT: '0', REDIS_URL: url, LOG_LEVEL: 'silent', ...FSYNC };
      const findings = await Promise.all(
        ['web', 'worker', 'release'].map((role) => run('node', [`src/${role}.ts`], { cwd: ROOT, env })),
      );
      expect(findings.map(({ exitCode }) => exitCode)).to.deep.equal([1, 1, 1]);
      return findings.map(({ output }) => /(?<!`)INGEST_DURABILITY: .*/.exec(output)?.[0] ?? output);
    }

    it('accepts events when every write is synced before the response', async () => {
      await start('7.0');
      expect((await send('a')).status).to.equal(200);
      expect(fake.asked()).to.equal(0);
    });

    for (const [setting, bad, takes] of [
      ['appendfsync', 'everysec', 'appendfsync always'],
      ['appendonly', 'no', 'appendonly yes'],
      ['no-appendfsync-on-rewrite', 'yes', 'no-appendfsync-on-rewrite no'],
    ] as const) {
      it(`does not start or pass the release check with ${setting} ${bad}`, async () => {
        await admin.config('SET', setting, bad);
        fake = await startFakeRedis(own.url, '7.0');
        for (const said of await refusals()) {
          expect(said).to.match(/INGEST_DURABILITY: got "fsync", but Redis 7\.0\.\d+ has /);
          expect(said).to.include(`has ${setting} ${bad}; expected ${takes}`).and.include('INGEST_DURABILITY=redis');
        }
      });
    }

    it('does not start or pass the release check if Redis forbids CONFIG', async () => {
      await admin.call('ACL', 'SETUSER', 'hosted', 'on', '>pass', '~*', '&*', '+@all', '-config');
      fake = await startFakeRedis(own.url, '7.0');
      for (const said of await refusals(fake.url.replace('//', '//hosted:pass@'))) {
        expect(said).to.include('does not allow reading its settings').and.include('CONFIG');
      }
    });

    it('rejects events with 503 when another Redis cannot keep the promise, until it is repaired', async () => {
      await start('7.0');
      const first = await send('a');
      expect(first.status).to.equal(200);
      await admin.config('SET', 'appendfsync', 'everysec');
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      const refused = await until(
        async () => {
          const response = await send('b');
          return response.status === 503 && response.body.error.includes('not set to keep') ? response : undefined;
        },
        { describe: 'events are refused' },
      );
      expect(refused.body.code).to.equal('unavailable');
      expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
      expect((await (service as Service).get('/v1/events')).status).to.equal(200);
      await service?.logs('has appendfsync everysec; expected appendfsync always');
      await admin.config('SET', 'appendfsync', 'always');
      await until(async () => (await send('b')).status === 200, { describe: 'events are taken in again' });
      expect((await send('a')).body.ids).to.deep.equal(first.body.ids);
    });
  });

  describe('with a Redis that has WAITAOF', () => {
    it('starts if settings cannot be read, and does not need appendfsync always', async () => {
      await admin.config('SET', 'appendfsync', 'everysec');
      await admin.call('ACL', 'SETUSER', 'default', '-config');
      await start('7.2');
      expect((await send('a')).status).to.equal(200);
      expect(fake.asked()).to.equal(1);
    });

    it('does not start when Redis never syncs', async () => {
      await admin.config('SET', 'appendfsync', 'no');
      const failed = await start('7.2', 0, true, FSYNC, true).catch((error: Error) => error.message);
      expect(failed).to.include('has appendfsync no; expected appendfsync always or everysec');
    });

    it('only the response to events waits for the disk', async () => {
      const service = await start('7.2');
      const written = (commits: number) =>
        service.waitFor('/v1/overview', ({ body }) => body.data.queues[0].waiting === commits);
      const synced = Promise.withResolvers<number>();
      fake.reply(synced.promise);
      let responded = 0;
      const sends = [];
      for (const [before, id] of ['a', 'b', 'c'].entries()) {
        sends.push(send(id).finally(() => responded++));
        await written(before + 1);
        await until(() => fake.asked() === 1, { describe: 'it asks for the first' });
      }
      const made = await service.post('/v1/webhooks', { name: 'w', transform: 'function transform() {}' });
      expect(made.status).to.equal(201);
      expect([responded, fake.asked()]).to.deep.equal([0, 1]);
      synced.resolve(1);
      expect((await Promise.all(sends)).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      // The two that came later shared the next.
      expect(fake.asked()).to.equal(2);
    });

    it('held events and manual invocations also wait for the disk', async () => {
      const service = await start('7.2', 0, false);
      const api = (path: string, body: object) => service.post(path, body, service.apiHeaders);
      const transform = 'function transform() { return { name: "disk/x", data: {} }; }';
      const made = await api('/v1/webhooks', { name: 'w', environment: 'branches', transform });
      const host = await startAppHost();
      await host.register(service, [{ id: 'f', triggers: [{ event: 'disk/y' }] }]);
      await host.close();
      fake.reply(0);
      const held = await service.post(new URL(made.body.data.url).pathname, {});
      const invoked = await api('/v1/functions/test-app-f/invoke', { data: {} });
      fake.reply(1);
      for (const { status, body } of [held, invoked]) {
        expect([status, body.code]).to.deep.equal([503, 'unavailable']);
        expect(body.error).to.include('did not sync');
      }
      expect((await service.post(new URL(made.body.data.url).pathname, {})).status).to.equal(200);
    });

    it('an event that was not synced in time is not acknowledged, and counts once when it is sent again', async () => {
      const service = await start('7.2', 1);
      fake.reply(0);
      const refused = await send('a');
      expect([refused.status, refused.body.code]).to.deep.equal([503, 'unavailable']);
      expect(refused.body.error).to.include('did not sync');
      expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
      fake.reply(1);
      const again = await send('a');
      expect(again.status).to.equal(200);
      await service.stored(again.body.ids[0]);
      expect((await service.get('/v1/events?name=disk/x')).body.data).to.have.lengthOf(1);
    });

    it('events that a worker sends also wait for the disk', async () => {
      const host = await startAppHost();
      try {
        const service = await start('7.2', 1);
        const called = Promise.withResolvers<void>();
        host.on('f', async () => {
          await called.promise;
          return { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'E', message: 'm' } };
        });
        await host.register(service, [{ id: 'f', triggers: [{ event: 'disk/x' }] }]);
        const { body } = await send('a');
        const before = fake.asked();
        const synced = Promise.withResolvers<number>();
        fake.reply(synced.promise);
        called.resolve();
        await until(() => fake.asked() > before, { describe: 'the worker asks for the event of the failure' });
        const path = `/v1/events/${body.ids[0]}/runs`;
        expect((await service.get(path)).body.data[0].status).to.equal('Running');
        synced.resolve(1);
        await service.waitFor(path, ({ body }) => body.data[0].status === 'Failed');
      } finally {
        await host.close();
      }
    });
  });
});
