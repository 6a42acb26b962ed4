import { expect } from 'chai';
import { Redis } from 'ioredis';
import { type RedisCluster, startCluster } from '../../scripts/lib/cluster/cluster.ts';
import type { ClusterNode } from '../../scripts/lib/cluster/node.ts';
import { readConfig } from '../../src/config.ts';
import type { ServiceError } from '../../src/errors.ts';
import { createLog } from '../../src/log.ts';
import { connect, ready, toServiceError } from '../../src/store/redis/connection/connection.ts';
import { scrape } from '../support/scrape.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('A Redis Cluster with a problem', () => {
  let cluster: RedisCluster;
  let service: Service;
  before(async () => {
    cluster = await startCluster({ credentials: { user: 'service', password: 'hush' } });
    service = await startService({
      workers: 0,
      env: { REDIS_CLUSTER_URLS: cluster.urls.join(), PARTITIONS: '3', METRICS_TOKEN: 'metrics-token-0123456789' },
    });
  });
  after(async () => {
    await service.stop();
    await cluster.stop();
  });

  const overview = async () => (await service.get('/v1/overview')).body.data?.redis;
  const metrics = () => scrape(service.url, { authorization: 'Bearer metrics-token-0123456789' });

  it('is shown with its nodes and the fullest node', async () => {
    const [first] = cluster.nodes as [ClusterNode];
    await first.admin.config('SET', 'maxmemory', '100mb');
    const redis = await overview();
    expect(redis.cluster).to.deep.include({ primaries: 3, replicas: 3, hash_slots_not_served: 0 });
    expect(redis.cluster.fullest).to.include({ address: `127.0.0.1:${first.port}`, max_memory_bytes: 104_857_600 });
    expect(redis.used_memory_bytes).to.be.greaterThan(2 * redis.cluster.fullest.used_memory_bytes);
    expect(redis.max_memory_bytes).to.equal(null);
    expect(redis.warnings).to.deep.equal([]);
    const found = await metrics();
    expect(found.value('tidegate_redis_cluster_primaries')).to.equal(3);
    expect(found.value('tidegate_redis_cluster_hash_slots_not_served')).to.equal(0);
    expect(found.value('tidegate_redis_max_memory_bytes')).to.equal(104_857_600);
  });

  it('names a primary with a setting that may lose data, or without a replica', async () => {
    const [first, , , replica] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode, ClusterNode];
    await first.admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await cluster.kill(replica);
    const warned = await until(
      async () => {
        const { warnings } = await overview();
        return warnings.length === 2 && warnings;
      },
      { describe: 'two warnings' },
    );
    expect(warned[0]).to.equal(`No replica follows 127.0.0.1:${first.port}: when it fails, its partitions are down.`);
    expect(warned[1]).to.match(new RegExp(`^127.0.0.1:${first.port}: maxmemory-policy is allkeys-lru`));
    await first.admin.config('SET', 'maxmemory-policy', 'noeviction');
    await cluster.start(replica);
    await cluster.waitUntilHealthy();
  });

  describe('with a node that is down and has no replica', () => {
    let lost: ClusterNode[];
    before(async () => {
      const [primary] = (await cluster.primaries()) as [ClusterNode];
      lost = [...(await cluster.replicasOf(primary)), primary];
      for (const node of lost) await cluster.kill(node);
    });
    after(async () => {
      for (const node of lost.reverse()) await cluster.start(node);
      await cluster.waitUntilHealthy();
    });

    it('keeps web ready, and accepts the events of the other partitions', async () => {
      for (let n = 0; n < 10; n++) expect((await service.get('/readyz')).status).to.equal(200);
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, n) => service.post('/e/key', { id: `${n}`, name: 'state/x', data: {} })),
      );
      const statuses = new Set(responses.map(({ status }) => status));
      expect([...statuses].sort()).to.deep.equal([200, 503]);
      for (const { status, headers } of responses) {
        if (status === 503) expect(headers.get('retry-after')).to.equal('2');
      }
    });

    it('fails commands with 503, even in pipelines, transactions and scripts', async () => {
      const config = readConfig({ MODE: 'dev', REDIS_CLUSTER_URLS: cluster.urls.join() });
      const redis = connect(config, 'fail-soon', createLog('silent', 'test'));
      await ready(redis);
      const attempts = Array.from({ length: 12 }, (_, n) => [
        redis.get(`key-${n}`),
        redis.pipeline().get(`{key-${n}}:a`).get(`{key-${n}}:b`).exec(),
        redis.multi().set(`{key-${n}}:a`, '1').set(`{key-${n}}:b`, '1').exec(),
        redis.eval('return redis.call("GET", KEYS[1])', 1, `key-${n}`),
      ]);
      const results = await Promise.allSettled(attempts.flat());
      const replies = results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason));
      const errors = replies.flat(2).filter((one): one is Error => one instanceof Error);
      expect(errors.length).to.be.greaterThan(3);
      for (const error of errors) {
        expect((toServiceError(error) as ServiceError).code, String(error)).to.equal('unavailable');
      }
      redis.disconnect();
    });
  });

  it('fails all commands with 503 when no node can be reached, and names no password', async () => {
    const config = readConfig({ MODE: 'dev', REDIS_CLUSTER_URLS: 'redis://service:hush@127.0.0.1:1' });
    const redis = connect(config, 'fail-soon', createLog('silent', 'test'));
    const error = await redis.get('key').catch((thrown: Error) => thrown);
    expect((toServiceError(error) as ServiceError).code, String(error)).to.equal('unavailable');
    expect(String(error)).not.to.include('hush');
    redis.disconnect();
    const ended = await redis.get('key').catch((thrown: Error) => thrown);
    expect((toServiceError(ended) as ServiceError).code, String(ended)).to.equal('unavailable');
  });

  it('fails commands with 503 on a hash slot that moves, and on nodes that do not have it', async () => {
    const [one, other] = (await cluster.primaries()) as [ClusterNode, ClusterNode];
    const lost = new Redis(one.url);
    const replies = [];
    for (let n = 0; n < 20; n++) replies.push(await lost.get(`key-${n}`).catch((thrown: Error) => thrown));
    const hashSlot = Number(await one.admin.cluster('KEYSLOT', 'moving'));
    const owner = await cluster.ownerOf('moving');
    const to = owner === one ? other : one;
    await owner.admin.set('{moving}:a', '1');
    await owner.admin.cluster('SETSLOT', hashSlot, 'MIGRATING', to.id);
    replies.push(await owner.admin.mget('{moving}:a', '{moving}:b').catch((thrown: Error) => thrown));
    replies.push(await owner.admin.get('{moving}:b').catch((thrown: Error) => thrown));
    await owner.admin.cluster('SETSLOT', hashSlot, 'STABLE');
    lost.disconnect();
    const errors = replies.filter((reply): reply is Error => reply instanceof Error);
    expect(new Set(errors.map(({ message }) => message.split(' ')[0]))).to.deep.equal(
      new Set(['MOVED', 'TRYAGAIN', 'ASK']),
    );
    for (const error of errors) expect((toServiceError(error) as ServiceError).code).to.equal('unavailable');
  });
});
