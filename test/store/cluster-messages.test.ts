import { expect } from 'chai';
import hashSlotOf from 'cluster-key-slot';
import { type RedisCluster, startCluster } from '../../scripts/lib/cluster/cluster.ts';
import type { ClusterNode } from '../../scripts/lib/cluster/node.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { connect, ready } from '../../src/store/redis/connection/connection.ts';
import {
  connectSubscriber,
  countSubscribers,
  publish,
  type Subscriber,
} from '../../src/store/redis/connection/pub-sub.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { freshPrefix } from '../support/redis.ts';
import { until } from '../support/until.ts';

describe('Messages between processes on a Redis Cluster', () => {
  const log = createLog('silent', 'test');
  let cluster: RedisCluster;
  let store: Store;
  let subscribers: Subscriber[];
  let received: string[];
  const channel = () => store.keys.gateway('one');
  const heard = (count: number) => until(() => received.length >= count, { describe: `${count} messages arrive` });

  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  beforeEach(async () => {
    const config = readConfig({ MODE: 'dev', REDIS_CLUSTER_URLS: cluster.urls.join(), KEY_PREFIX: freshPrefix() });
    const redis = connect(config, 'fail-soon', log);
    await ready(redis);
    store = createStore(redis, config);
    await store.partitions.read();
    received = [];
    const key = store.keys.cacheInvalidation;
    subscribers = [0, 1].map(() => connectSubscriber(config, { redis, key }, log));
    for (const subscriber of subscribers) {
      subscriber.on('message', (from, text) => received.push(`${from} ${text}`));
      await subscriber.subscribe(channel());
    }
  });
  afterEach(async () => {
    for (const subscriber of subscribers) subscriber.disconnect();
    store.redis.disconnect();
    for (const node of cluster.nodes) {
      cluster.resume(node);
      if (node.pid === undefined) await cluster.start(node);
    }
    await cluster.waitUntilHealthy();
  });

  /** Publishes until it arrives everywhere again. */
  async function arrivesAgain(): Promise<void> {
    const arrives = async () => {
      received = [];
      if ((await publish(store.redis, channel(), 'again')) < 2) return false;
      await heard(2);
      return true;
    };
    await until(arrives, { describe: 'messages arrive again' });
  }

  it('reach all subscribers, and the publisher knows how many', async () => {
    expect(await publish(store.redis, channel(), 'hello')).to.equal(2);
    await heard(2);
    expect(received).to.deep.equal([`${channel()} hello`, `${channel()} hello`]);
    expect(await countSubscribers(store.redis, [channel(), store.keys.gateway('none')])).to.deep.equal([2, 0]);
    expect([...(await store.connectCalls.deadGateways(['one', 'none']))]).to.deep.equal(['none']);
    await subscribers[0]?.unsubscribe(channel());
    expect(await publish(store.redis, channel(), 'bye')).to.equal(1);
  });

  for (const [what, fail] of [
    ['has been killed', (owner) => cluster.kill(owner)],
    ['no longer responds', async (owner) => cluster.pause(owner)],
    ['has given away the hash slot', giveAway],
  ] as [string, (owner: ClusterNode) => Promise<unknown>][]) {
    it(`continue when the node with the channels ${what}, and subscribers learn that messages may be missing`, async () => {
      let reconnected = 0;
      for (const subscriber of subscribers) subscriber.on('ready', () => reconnected++);
      await fail(await cluster.ownerOf(channel()));
      await cluster.waitUntilServed();
      await until(() => reconnected >= 2, { describe: 'both subscribers are told' });
      await arrivesAgain();
    });
  }

  /** With redis-cli it would take half a minute: it gives away all hash slots before this one, too. */
  async function giveAway(owner: ClusterNode): Promise<void> {
    const to = (await cluster.primaries()).find((node) => node !== owner) as ClusterNode;
    const hashSlot = hashSlotOf(channel());
    await to.admin.cluster('SETSLOT', hashSlot, 'IMPORTING', owner.id);
    await owner.admin.cluster('SETSLOT', hashSlot, 'MIGRATING', to.id);
    const keys = (await owner.admin.cluster('GETKEYSINSLOT', hashSlot, 1_000)) as string[];
    if (keys.length > 0) await owner.admin.migrate('127.0.0.1', to.port, '', 0, 5_000, 'KEYS', ...keys);
    for (const node of [to, owner]) await node.admin.cluster('SETSLOT', hashSlot, 'NODE', to.id);
    await cluster.waitUntilServed();
  }

  it('announce changes of cached data, and changes of a lost message are read within seconds', async () => {
    let changes = 0;
    const subscriber = subscribers[0] as Subscriber;
    store.cacheInvalidation.subscribe(subscriber, async () => {
      changes++;
    });
    await until(() => changes === 1, { describe: 'the first read' });
    await publish(store.redis, store.keys.cacheInvalidation, '');
    await until(() => changes === 2, { describe: 'a message' });
    const changed = async () => {
      await store.redis.set(store.keys.cacheVersion, `${performance.now()}`);
      return changes > 2;
    };
    await until(changed, { describe: 'the change is seen' });
  });
});
