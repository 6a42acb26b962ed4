import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { installationTag, partitionTag } from '../../src/model/partitions/hash-tags.ts';
import { Copier } from '../../src/store/move/copy.ts';
import { copyInParts } from '../../src/store/move/copy-in-parts.ts';
import { KeyMap } from '../../src/store/move/key-map.ts';
import { scan } from '../../src/store/move/scan.ts';
import { Comparison } from '../../src/store/move/verify.ts';
import { KEY_DECLARATIONS_BY_ROOM, keyspace, PARTITION_KEY_WORDS } from '../../src/store/redis/keyspace/keyspace.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';

const DAY_MS = 86_400_000;

describe('Copies of keys', () => {
  const servers: OwnRedis[] = [];
  let source: Redis;
  let target: Redis;
  const keys = keyspace({ prefix: 'p' });
  const map = new KeyMap(keys, keys);

  before(async () => {
    servers.push(await startOwnRedis(), await startOwnRedis());
    [source, target] = servers.map(({ url }) => new Redis(url)) as [Redis, Redis];
  });
  after(async () => {
    source?.disconnect();
    target?.disconnect();
    await Promise.all(servers.map((server) => server.remove()));
  });
  beforeEach(async () => {
    await Promise.all([source.flushall(), target.flushall()]);
  });

  /** @param count of elements; small ones are stored in another way */
  const fill = async (count: number, bytes: number) => {
    const binary = () => randomBytes(bytes);
    await source.set('p:session:a', binary(), 'PX', DAY_MS);
    await source.set('p:rest', binary());
    for (let n = 0; n < count; n++) {
      await Promise.all([
        source.hset('p:run:e:1', `f${n}`, binary()),
        source.rpush('p:run:e:1:stack', binary()),
        source.sadd('p:connect-functions:e:h', binary()),
        source.zadd('p:active-runs', 1.5 * n + 1e15, binary()),
        source.xadd('p:audit-log', '*', 'entry', binary()),
      ]);
    }
    await source.zadd('p:active-runs', 'inf', 'last', '-inf', 'first', '0.1', 'between');
    await source.pexpire('p:run:e:1', DAY_MS);
  };
  const differing = async () => {
    const comparison = new Comparison({ source, target, map, total: 10 });
    const found: string[] = [];
    for await (const some of scan(source, 'p')) found.push(...(await comparison.differing(some)));
    return {
      found,
      same: [...comparison.same.values()].reduce((all, one) => all + one, 0),
      sampled: comparison.sampled,
    };
  };

  it('are equal in content and TTL, whether small or large', async () => {
    for (const [count, bytes] of [
      [3, 10],
      [1_500, 4_000],
    ] as const) {
      await fill(count, bytes);
      const copier = new Copier({ source, target, map });
      for await (const some of scan(source, 'p')) await copier.copy(some);
      expect(await differing()).to.deep.equal({ found: [], same: 7, sampled: 7 });
      expect(await target.pttl('p:run:e:1')).to.be.within(DAY_MS - 60_000, DAY_MS);
      // Again, over what is there.
      for await (const some of scan(source, 'p')) await copier.copy(some);
      expect(await differing()).to.deep.equal({ found: [], same: 7, sampled: 7 });
    }
  });

  it('can be made without dumps, which another version may not read', async () => {
    await fill(300, 20);
    for await (const some of scan(source, 'p')) {
      for (const key of some) await copyInParts(source, target, { from: key, to: key });
    }
    expect(await differing()).to.deep.equal({ found: [], same: 7, sampled: 7 });
  });

  it('are reported if they lack something, have something else, or have a TTL that the source does not have', async () => {
    await fill(3, 10);
    for await (const some of scan(source, 'p')) await new Copier({ source, target, map }).copy(some);
    await target.del('p:session:a');
    await target.rpush('p:run:e:1:stack', 'more');
    await target.hset('p:run:e:1', 'f0', 'other');
    await target.pexpire('p:rest', DAY_MS);
    await target.del('p:audit-log');
    await target.set('p:audit-log', 'text');
    expect((await differing()).found.sort()).to.deep.equal([
      'p:audit-log',
      'p:rest',
      'p:run:e:1',
      'p:run:e:1:stack',
      'p:session:a',
    ]);
  });

  it('have the names that the cluster uses', () => {
    const layout = keyspace({ prefix: 'p', cluster: true });
    const renames = new KeyMap(keys, layout);
    const [installation, first] = [installationTag('p'), partitionTag('p', 0)];
    expect(renames.targetOf('p:users')).to.equal(`{${installation}}:users`);
    expect(renames.targetOf('p:active-runs')).to.equal(`{${first}}:active-runs`);
    expect(renames.targetOf('p:queue:runs:wait')).to.equal(`{${first}}:queue:runs:wait`);
    expect(renames.targetOf('p:fenced:queue:ingest:id')).to.equal(`{${first}}:queue:ingest:id`);
    expect(renames.targetOf('p:fenced:held-events')).to.equal(`{${installation}}:held-events`);
    for (const key of [
      'p:queue:ingest:id',
      'p:held-events',
      'p:processes',
      'p:lock:move',
      'p:partition-layout',
      'q:x',
    ]) {
      expect(renames.targetOf(key), key).to.equal(undefined);
    }
    expect(renames.renamedLocation('["p:waits:e:p:x","p:wait-paths:e:p:x","[\\"a\\"]"]')).to.equal(
      `["{${first}}:waits:e:p:x","{${first}}:wait-paths:e:p:x","[\\"a\\"]"]`,
    );
    expect(renames.renamedLocation('["p:signals:e:s","",""]')).to.equal(`["{${first}}:signals:e:s","",""]`);
  });

  it('belong to a partition or to the installation by their first word alone', () => {
    const {
      of: _of,
      partition,
      all: _all,
      homesOf: _homes,
      prefix: _prefix,
      ...ofInstallation
    } = keyspace({ prefix: 'p' });
    for (const [name, { pattern }] of Object.values(KEY_DECLARATIONS_BY_ROOM).flatMap((room) => Object.entries(room))) {
      const isOfPartition = name in partition(0);
      // Each has one of its own, and neither moves.
      if (name === 'diskBarrier') continue;
      expect(name in ofInstallation, name).to.equal(!isOfPartition);
      expect(PARTITION_KEY_WORDS.has(pattern.split(':')[0] as string), name).to.equal(isOfPartition);
    }
  });
});
