import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Cluster } from 'ioredis';
import { type RedisCluster, startCluster } from '../../scripts/lib/cluster/cluster.ts';
import { moveHashSlot, rebalance, reshard, usedHashSlots } from '../../scripts/lib/cluster/move-hash-slots.ts';
import { usageBetween, usageOf } from '../../scripts/lib/cluster/usage.ts';
import { sizeOf } from '../../scripts/lib/cluster/view.ts';

describe('A Redis Cluster of scripts and tests', () => {
  let cluster: RedisCluster;
  let client: Cluster;

  before(async () => {
    cluster = await startCluster({ credentials: { user: 'service', password: 'a b/c:d' } });
    client = cluster.connect({ maxRedirections: 100 });
  });

  after(async () => {
    client.disconnect();
    await cluster.stop();
  });

  it('has three primaries with a replica each, and requires its password', async () => {
    const primaries = await cluster.primaries();
    expect(primaries.map(({ index }) => index)).to.deep.equal([0, 1, 2]);
    for (const primary of primaries) {
      const replicas = await cluster.replicasOf(primary);
      expect(replicas.map(({ index }) => index)).to.deep.equal([primary.index + 3]);
    }
    expect(cluster.urls).to.have.lengthOf(6);
    expect(cluster.urls[0]).to.equal(`redis://service:a%20b%2Fc%3Ad@127.0.0.1:${cluster.nodes[0]?.port}`);
  });

  it('continues with a replica when a primary is killed, and takes it back as a replica', async () => {
    const owner = await cluster.ownerOf('{a}:1');
    const [replica] = await cluster.replicasOf(owner);
    // WAIT is about writes of the same connection.
    await owner.admin.set('{a}:1', 'kept');
    expect(await owner.admin.wait(1, 1_000)).to.equal(1);
    await cluster.kill(owner);
    await cluster.waitUntilServed();
    expect(await cluster.ownerOf('{a}:1')).to.equal(replica);
    expect(await client.get('{a}:1')).to.equal('kept');
    await cluster.start(owner);
    await cluster.waitUntilHealthy();
    expect(await cluster.replicasOf(await cluster.ownerOf('{a}:1'))).to.deep.equal([owner]);
  });

  it('continues with a replica when a primary stops responding', async () => {
    const owner = await cluster.ownerOf('{b}:1');
    cluster.pause(owner);
    await cluster.waitUntilServed();
    const promoted = await cluster.ownerOf('{b}:1');
    expect(promoted).not.to.equal(owner);
    cluster.resume(owner);
    await cluster.waitUntilHealthy();
    expect(await cluster.replicasOf(promoted)).to.deep.equal([owner]);
  });

  it('moves only the hash slots that have keys', async () => {
    for (let n = 0; n < 30; n++) await client.set(`{c}:${n}`, n);
    const from = await cluster.ownerOf('{c}');
    const to = (await cluster.primaries()).find((primary) => primary !== from) as RedisCluster['nodes'][0];
    const used = await usedHashSlots(cluster, from);
    for (const hashSlot of used) await moveHashSlot(cluster, hashSlot, from, to);
    await cluster.waitUntilServed();
    expect(await cluster.ownerOf('{c}')).to.equal(to);
    expect(await usedHashSlots(cluster, from)).to.deep.equal([]);
    expect(await usedHashSlots(cluster, to)).to.include.members(used);
    const values = await Promise.all(Array.from({ length: 30 }, (_, n) => client.get(`{c}:${n}`)));
    expect(values).to.deep.equal(values.map((_, n) => String(n)));
  });

  it('moves hash slots with their keys, and back', async () => {
    for (let n = 0; n < 300; n++) await client.set(`moved:${n}`, n);
    const [first, second] = (await cluster.primaries()) as [RedisCluster['nodes'][0], RedisCluster['nodes'][0]];
    await rebalance(cluster, new Map([[first, 0]]));
    await cluster.waitUntilServed();
    expect(await cluster.primaries()).not.to.include(first);
    await rebalance(cluster, new Map());
    await cluster.waitUntilServed();
    const sizes = (await cluster.view()).map(({ ranges }) => sizeOf(ranges)).filter((size) => size > 0);
    expect(sizes).to.have.lengthOf(3);
    expect(Math.max(...sizes) - Math.min(...sizes)).to.be.at.most(2);
    await reshard(cluster, first, second, 100);
    await cluster.waitUntilServed();
    const values = await Promise.all(Array.from({ length: 300 }, (_, n) => client.get(`moved:${n}`)));
    expect(values).to.deep.equal(values.map((_, n) => String(n)));
  });

  it('counts the commands of each node', async () => {
    const before = await usageOf(cluster);
    const owner = await cluster.ownerOf('{c}');
    for (let n = 0; n < 50; n++) await client.incr('{c}');
    const used = usageBetween(before, await usageOf(cluster));
    expect(used).to.have.lengthOf(6);
    expect(used.find(({ node }) => node === owner))
      .to.deep.include({ isPrimary: true })
      .and.nested.property('calls.incr', 50);
    const idle = used.filter(({ calls }) => !calls.incr);
    expect(idle).to.have.lengthOf(4);
  });
});

describe('A Redis Cluster that keeps its data', () => {
  let dir: string;
  let other: Server | undefined;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'tidegate-kept-cluster-'));
  });

  afterEach(() => {
    other?.close();
    other = undefined;
    rmSync(dir, { recursive: true });
  });

  it('keeps its data and roles over a restart, even if a port was taken meanwhile', async () => {
    const first = await startCluster({ dir });
    const client = first.connect();
    await client.set('a', '1');
    client.disconnect();
    const [{ port, id }] = first.nodes as [RedisCluster['nodes'][0]];
    await first.stop();
    other = createServer().listen(port, '127.0.0.1');
    const second = await startCluster({ dir });
    const again = second.connect();
    try {
      expect(await again.get('a')).to.equal('1');
      expect(second.nodes[0]?.id).to.equal(id);
      expect(second.nodes[0]?.port).not.to.equal(port);
      expect(second.nodes[1]?.port).to.equal(first.nodes[1]?.port);
    } finally {
      again.disconnect();
      await second.stop();
    }
    expect(JSON.parse(readFileSync(join(dir, 'cluster.json'), 'utf8'))).to.include({ isComplete: true });
    expect(existsSync(join(dir, 'node-0/nodes.conf'))).to.equal(true);
  });
});
