import { resolve } from 'node:path';
import { expect } from 'chai';
import { type RedisCluster, startCluster } from '../../scripts/lib/cluster/cluster.ts';
import type { ClusterNode } from '../../scripts/lib/cluster/node.ts';
import { startOwnRedis } from '../support/own-redis.ts';
import { type ProgramResult, run } from '../support/program.ts';
import { SECRETS } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PRODUCTION = {
  MODE: 'production',
  HOST: '127.0.0.1',
  TRUST_PROXY: '1',
  PUBLIC_URL: 'https://events.example.com',
  ...SECRETS,
};

const release = (env: Record<string, string>): Promise<ProgramResult> =>
  run('node', ['src/release.ts'], { cwd: ROOT, env: { ...PRODUCTION, REDIS_URL: '', ...env } });

describe('The release check of a Redis Cluster', () => {
  let cluster: RedisCluster;
  let urls: string;
  before(async () => {
    cluster = await startCluster({ appendfsync: 'always', credentials: { user: 'service', password: 'hush' } });
    urls = cluster.urls.slice(0, 2).join();
  });
  after(() => cluster.stop());

  it('passes with a complete one', async () => {
    const primaries = await cluster.primaries();
    await Promise.all(primaries.map(({ admin }) => admin.config('SET', 'min-replicas-to-write', '1')));
    const { exitCode, output } = await release({ REDIS_CLUSTER_URLS: urls, INGEST_DURABILITY: 'fsync' });
    expect(exitCode, output).to.equal(0);
    expect(output)
      .to.match(/\nReady for release: settings are complete, and Redis responds\n$/)
      .and.not.include('warning');
  });

  it('names the node that may lose or evict data', async () => {
    const [primary, , , replica] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode, ClusterNode];
    await primary.admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await replica.admin.config('SET', 'appendonly', 'no');
    const { exitCode, output } = await release({ REDIS_CLUSTER_URLS: urls });
    await primary.admin.config('SET', 'maxmemory-policy', 'noeviction');
    await replica.admin.config('SET', 'appendonly', 'yes');
    expect(exitCode, output).to.equal(0);
    expect(output)
      .to.match(
        new RegExp(`warning: the primary 127.0.0.1:${primary.port}, Redis 7\\S+: maxmemory-policy is allkeys-lru`),
      )
      .and.match(new RegExp(`warning: the replica 127.0.0.1:${replica.port}, Redis 7\\S+: appendonly is off`));
  });

  it('names primaries without a replica, fails if an event must be on one, and reports hash slots without a node', async () => {
    const [primary, , , replica] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode, ClusterNode];
    const hasFailed = (node: ClusterNode) => async () => {
      const nodes = await cluster.view();
      return nodes.some(({ id, hasFailed }) => id === node.id && hasFailed);
    };
    await cluster.kill(replica);
    await until(hasFailed(replica), { describe: 'the replica has failed' });
    const seeds = { REDIS_CLUSTER_URLS: (cluster.nodes[1] as ClusterNode).url };
    const bare = new RegExp(`no replica follows 127.0.0.1:${primary.port}. Add one: redis-cli --cluster add-node`);
    const warned = await release(seeds);
    expect([warned.exitCode, bare.test(warned.output)], warned.output).to.deep.equal([0, true]);
    const failed = await release({ ...seeds, INGEST_DURABILITY: 'fsync' });
    expect([failed.exitCode, bare.test(failed.output)], failed.output).to.deep.equal([1, true]);
    await cluster.kill(primary);
    await until(hasFailed(primary), { describe: 'the primary has failed' });
    const { exitCode, output } = await release(seeds);
    expect(exitCode).to.equal(1);
    expect(output).to.match(/REDIS_CLUSTER_URLS: 546[12] of 16384 hash slots have no node/);
  });

  it('names the setting, but no password, when it cannot connect', async () => {
    const own = await startOwnRedis();
    const wrong = (cluster.nodes[1] as ClusterNode).url.replace('hush', 'wrong-hush');
    const said = await Promise.all(
      [
        { REDIS_CLUSTER_URLS: own.url },
        { REDIS_CLUSTER_URLS: wrong },
        { REDIS_SENTINEL_URLS: 'redis://:hush@127.0.0.1:1' },
      ].map(async (env) => (await release(env as Record<string, string>)).output),
    );
    await own.remove();
    expect(said[0]).to.match(/^REDIS_CLUSTER_URLS: .*this Redis is not part of a cluster/m);
    expect(said[1]).to.match(/^REDIS_CLUSTER_URLS: cannot connect to a Redis Cluster at 127\S+: WRONGPASS/m);
    expect(said[2]).to.match(/^REDIS_SENTINEL_URLS: cannot connect to the master "mymaster" of the Sentinels at 127/m);
    for (const output of said) expect(output).not.to.include('hush');
  });
});
