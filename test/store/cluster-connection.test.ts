import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { Cluster, Redis } from 'ioredis';
import { type RedisCluster, startCluster } from '../../scripts/lib/cluster/cluster.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { connect } from '../../src/store/redis/connection/connection.ts';
import { clusterOf } from '../../src/store/redis/connection/servers.ts';

describe('A connection to a Redis Cluster', () => {
  let nodes: RedisCluster;
  before(async () => {
    nodes = await startCluster({ replicas: 0 });
  });
  after(() => nodes.stop());

  const open = (): Cluster => {
    const config = readConfig({ MODE: 'dev', REDIS_CLUSTER_URLS: nodes.urls.join() });
    return clusterOf(connect(config, 'wait', createLog('silent', 'test'))) as Cluster;
  };

  /** The read that the connection makes by itself every few seconds has begun. */
  const readBegins = async (cluster: Cluster): Promise<{ end: Promise<void> }> => {
    await cluster.ping();
    const begun = Promise.withResolvers<{ end: Promise<void> }>();
    const end = Promise.withResolvers<void>();
    const { refreshSlotsCache } = cluster;
    cluster.refreshSlotsCache = (callback) => {
      refreshSlotsCache.call(cluster, (error) => {
        callback?.(error);
        end.resolve();
      });
      begun.resolve({ end: end.promise });
    };
    return begun.promise;
  };

  const endsDuringRead = async (cluster: Cluster) => {
    const read = await readBegins(cluster);
    const ended = once(cluster, 'end');
    cluster.disconnect();
    await Promise.all([ended, read.end]);
    const timers = Object.entries(cluster).filter(([name]) => name.endsWith('Timer'));
    expect(timers.map(([, timer]) => timer)).to.deep.equal([null]);
  };

  it('reads the owners of hash slots no more after it has ended during such a read', () => endsDuringRead(open()));

  it('has duplicates that do the same', async () => {
    const cluster = open();
    const duplicate = cluster.duplicate();
    cluster.disconnect();
    await endsDuringRead(duplicate);
  });

  it('leaves no rejection unhandled when a node is gone before it replies to ASKING, nor do its duplicates', async () => {
    const cluster = open();
    const duplicate = cluster.duplicate();
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    for (const each of [cluster, duplicate]) {
      await each.ping();
      const [node] = each.nodes('master') as [Redis];
      await node.ping();
      const closed = once(node, 'close');
      // As ioredis calls it for a hash slot that moves.
      void node.asking();
      node.stream.destroy();
      await closed;
      await setImmediate();
      each.disconnect();
    }
    process.off('unhandledRejection', note);
    expect(unhandled).to.deep.equal([]);
  });
});
