import { expect } from 'chai';
import { type RedisCluster, startCluster } from '../../scripts/lib/cluster/cluster.ts';
import type { ClusterNode } from '../../scripts/lib/cluster/node.ts';
import { partitionDigits } from '../../src/model/ids.ts';
import { partitionTag } from '../../src/model/partitions/hash-tags.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const PARTITIONS = 6;

describe('INGEST_DURABILITY=fsync on a Redis Cluster', () => {
  let cluster: RedisCluster;
  let service: Service | undefined;
  before(async () => {
    cluster = await startCluster({ appendfsync: 'always' });
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
    for (const node of cluster.nodes) {
      cluster.resume(node);
      if (node.pid === undefined) await cluster.start(node);
    }
    await cluster.waitUntilHealthy();
  });
  after(() => cluster.stop());

  async function start(env: Record<string, string> = {}): Promise<Service> {
    service = await startService({
      workers: 0,
      env: {
        REDIS_CLUSTER_URLS: cluster.urls.join(),
        INGEST_DURABILITY: 'fsync',
        PARTITIONS: String(PARTITIONS),
        ...env,
      },
    });
    return service;
  }

  const send = async (id: string) => {
    const { status, body, headers } = await (service as Service).post('/e/key', { id, name: 'disk/x', data: {} });
    return { status, body, retryAfter: headers.get('retry-after') };
  };
  /** Sends until events have been acknowledged in each partition. @returns their internal IDs */
  async function sendToAll(): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < 8 * PARTITIONS; n++) {
      const response = await send(`${ids.length}-${n}`);
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      ids.push(...response.body.ids);
    }
    return ids;
  }
  const partitionOf = (id: string) => partitionDigits(id) % PARTITIONS;
  const ownerOfPartition = (n: number) =>
    cluster.ownerOf(`{${partitionTag((service as Service).prefix, n)}}:disk-barrier`);

  it('acknowledges events of all partitions when a primary and one of its replicas have them', async () => {
    await start();
    const ids = await sendToAll();
    expect(new Set(ids.map(partitionOf)).size).to.be.greaterThan(PARTITIONS / 2);
    const waits = await Promise.all(
      (await cluster.primaries()).map(async ({ admin }) =>
        /cmdstat_wait:calls=(\d+)/.exec(await admin.info('commandstats')),
      ),
    );
    for (const found of waits) expect(Number(found?.[1])).to.be.greaterThan(0);
  });

  it('rejects with 503 only the events of a primary whose replica has stopped responding, until it responds', async () => {
    await start();
    await sendToAll();
    const primary = await ownerOfPartition(0);
    const [replica] = (await cluster.replicasOf(primary)) as [ClusterNode];
    cluster.pause(replica);
    const responses = await Promise.all(Array.from({ length: 24 }, (_, n) => send(`paused-${n}`)));
    const refused = responses.filter(({ status }) => status !== 200);
    const taken = responses.filter(({ status }) => status === 200);
    expect(refused.length).to.be.greaterThan(0);
    expect(taken.length).to.be.greaterThan(0);
    for (const { status, body, retryAfter } of refused) {
      expect([status, retryAfter], JSON.stringify(body)).to.deep.equal([503, '2']);
    }
    for (const { body } of taken) {
      expect(await ownerOfPartition(partitionOf(body.ids[0]))).not.to.equal(primary);
    }
    cluster.resume(replica);
    for (let n = 0; n < 24; n++) {
      const accepted = async () => (await send(`paused-${n}`)).status === 200;
      await until(accepted, { describe: `event ${n} is accepted` });
    }
  });

  it('acknowledges nothing that a failover between write and barrier loses, and checks the new primary', async () => {
    await start();
    await sendToAll();
    const primary = await ownerOfPartition(0);
    const acknowledged: string[] = [];
    let n = 0;
    const stopAt = { n: Number.POSITIVE_INFINITY };
    const sender = async () => {
      while (n < stopAt.n) {
        const { status, body } = await send(`failover-${n++}`);
        if (status === 200) acknowledged.push(body.ids[0]);
        else expect(status, JSON.stringify(body)).to.equal(503);
      }
    };
    const senders = Promise.all(Array.from({ length: 16 }, sender));
    senders.catch(() => {});
    await until(() => n > 300, { describe: 'events are sent' });
    await cluster.kill(primary);
    await cluster.waitUntilServed();
    // The new primary has no replica yet: its events are refused.
    const before = n;
    await until(() => n > before + 200, { describe: 'events are sent after the failover' });
    await cluster.start(primary);
    await cluster.waitUntilHealthy();
    const healed = async () => {
      const responses = await Promise.all(Array.from({ length: 12 }, (_, i) => send(`healed-${n}-${i}`)));
      return responses.every(({ status }) => status === 200);
    };
    await until(healed, { describe: 'all events are accepted again' });
    stopAt.n = n;
    await senders;
    const stored = await storedIds();
    expect(acknowledged.length).to.be.greaterThan(300);
    expect(acknowledged.filter((id) => !stored.has(id))).to.deep.equal([]);
  });

  it('rejects the events of a primary that syncs less, and starts only if all primaries sync', async () => {
    await start();
    await sendToAll();
    const [primary] = (await cluster.primaries()) as [ClusterNode];
    await primary.admin.config('SET', 'appendfsync', 'everysec');
    try {
      const [failed] = await Promise.allSettled([startService({ workers: 0, env: (service as Service).env })]);
      expect(String(failed?.status === 'rejected' && failed.reason)).to.include(
        `Redis 7.0.15 at 127.0.0.1:${primary.port} has appendfsync everysec; expected appendfsync always`,
      );
    } finally {
      await primary.admin.config('SET', 'appendfsync', 'always');
    }
  });

  it('INGEST_DURABILITY=auto waits for the disk of the primary and for no replica', async () => {
    await start({ INGEST_DURABILITY: 'auto', MODE: 'dev' });
    await sendToAll();
    for (const node of await cluster.primaries()) for (const one of await cluster.replicasOf(node)) cluster.pause(one);
    await sendToAll();
  });

  /** Internal IDs in the ingest jobs of all partitions. */
  async function storedIds(): Promise<Set<string>> {
    const found = new Set<string>();
    for (const { admin } of await cluster.primaries()) {
      for await (const keys of admin.scanStream({
        match: `*${(service as Service).prefix}*:queue:ingest:*`,
        count: 1_000,
      })) {
        for (const key of keys as string[]) {
          if (!/:ingest:\d+$/.test(key)) continue;
          const job = JSON.parse((await admin.hget(key, 'data')) ?? '{"events":[]}') as {
            events: { internalId: string }[];
          };
          for (const { internalId } of job.events) found.add(internalId);
        }
      }
    }
    return found;
  }
});
