import { resolve } from 'node:path';
import { expect } from 'chai';
import { type Migration, SCHEMA_FIELD, SchemaVersion } from '../../src/store/redis/keyspace/schema-version.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { run } from '../support/program.ts';
import { connectRedis, deleteKeys, freshPrefix, type Redis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NEWER = JSON.stringify({ version: 9, oldest: 9, release: '9.0.0' });
const COMPATIBLE = JSON.stringify({ version: 9, oldest: 1, release: '9.0.0' });
const REFUSAL = 'Redis has data of schema version 9, written by Tidegate 9.0.0';

describe('The schema version of the store', () => {
  describe('of a service', () => {
    let own: OwnRedis;
    let redis: Redis;
    let service: Service;
    before(async () => {
      own = await startOwnRedis();
      redis = connectRedis(own.url);
    });
    after(async () => {
      redis.disconnect();
      await own.remove();
    });
    beforeEach(async () => {
      await redis.flushall();
      service = await startService({ dev: false, env: { REDIS_URL: own.url } });
    });
    afterEach(() => service.stop());

    const write = (schema: string) => redis.hset(service.keys.partitionLayout, SCHEMA_FIELD, schema);

    it('is written at the first start', async () => {
      const schema = JSON.parse((await redis.hget(service.keys.partitionLayout, SCHEMA_FIELD)) as string);
      expect(schema).to.include({ version: 1, oldest: 1 });
    });

    it('stops processes that would misread a newer store, with the release that wrote it', async () => {
      await write(NEWER);
      for (const process of [...service.webs, ...service.workers]) {
        await until(() => !process.running(), { describe: 'it has ended' });
        expect(process.output()).to.include(REFUSAL);
      }
      for (const start of [() => service.startWeb(), () => service.startWorker()]) {
        expect(String(await start().catch((error: Error) => error))).to.include(REFUSAL);
      }
      const env = { ...service.env, PUBLIC_URL: 'https://events.example.com' };
      const released = await run('node', ['src/release.ts'], { cwd: ROOT, env });
      expect(released.exitCode, released.output).to.equal(1);
      expect(released.output).to.include(REFUSAL);
      service.webs.length = 0;
      service.workers.length = 0;
    });

    it('lets processes work with a newer store that they can read, such as during a deploy', async () => {
      await write(COMPATIBLE);
      const worker = await service.startWorker();
      expect(worker.output()).not.to.include('schema');
    });
  });

  describe('with migrations', () => {
    let redis: Redis;
    let prefix: string;
    let key: string;
    beforeEach(() => {
      redis = connectRedis();
      prefix = freshPrefix();
      key = `${prefix}:partition-layout`;
      done.length = 0;
      fails = undefined;
    });
    afterEach(async () => {
      await deleteKeys(redis, prefix);
      redis.disconnect();
    });

    const done: number[] = [];
    let fails: number | undefined;
    const migration = (version: number, oldest: number): Migration => ({
      version,
      oldest,
      description: `to ${version}`,
      run: async () => {
        if (version === fails) throw new Error('killed');
        done.push(version);
      },
    });
    const schema = new SchemaVersion('0.4.0', [migration(2, 1), migration(3, 2), migration(4, 2)]);
    const stored = async () => JSON.parse((await redis.hget(key, SCHEMA_FIELD)) as string);

    it('runs missing ones in order, and continues after an interruption', async () => {
      fails = 3;
      expect(await schema.migrate(redis, key).catch((error: Error) => error.message)).to.equal('killed');
      expect(await stored()).to.deep.equal({ version: 2, oldest: 1, release: '0.4.0' });
      fails = undefined;
      expect(await schema.migrate(redis, key)).to.deep.equal(['3: to 3', '4: to 4']);
      expect(done).to.deep.equal([2, 3, 4]);
      expect(await schema.migrate(redis, key)).to.deep.equal([]);
    });

    it('says what to do about an older store, and which release reads a newer one', () => {
      expect(schema.refusal(undefined)?.message).to.include('Run `scripts/start release`, which migrates it');
      expect(schema.refusal(JSON.stringify({ version: 4, oldest: 2, release: '0.4.0' }))).to.equal(undefined);
      expect(schema.refusal(COMPATIBLE)).to.equal(undefined);
      expect(schema.refusal(NEWER)?.message).to.include('Start Tidegate 9.0.0 or newer, or restore a backup');
    });

    it('begins with the newest version in a new store, and with the first in a store without a version', () => {
      expect(JSON.parse(schema.initial(true))).to.include({ version: 4, oldest: 2 });
      expect(JSON.parse(schema.initial(false))).to.include({ version: 1, oldest: 1 });
    });
  });
});
