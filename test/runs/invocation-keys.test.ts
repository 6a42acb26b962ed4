import { expect } from 'chai';
import { newId } from '../../src/model/ids.ts';
import { PartitionLayout } from '../../src/model/partitions/layout.ts';
import { keyspace } from '../../src/store/redis/keyspace/keyspace.ts';
import { InvocationClaims } from '../../src/store/runs/invocation-claims.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { openStore } from '../support/own-store.ts';
import { findKeys, itOnSingleRedis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';

const ENV = 'production';
const DAY_MS = 86_400_000;
const PARTITIONS = '4';

describe('An invocation with an idempotency key', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { PARTITIONS } });
    host = await startAppHost();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'key/x' }] }], { appName: 'key' });
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  async function invoke(idempotencyKey?: string): Promise<{ status: number; runId: string }> {
    const body = { data: {}, idempotencyKey };
    const response = await service.post('/v2/apps/key/functions/f/invoke', body, service.apiHeaders);
    return { status: response.status, runId: response.body.data.runId };
  }
  const eventOf = async (runId: string): Promise<string> => (await service.get(`/v1/runs/${runId}`)).body.data.event_id;
  /** The ID under which an earlier version claimed a key, which a sender may choose, too. */
  const formerId = (key: string) => `inngest/function.invoked:key-f:${key}`;

  it('has one run, however often it is repeated', async () => {
    const first = await invoke('once');
    expect(first.status).to.equal(200);
    for (let i = 0; i < 12; i++) expect(await invoke('once')).to.deep.equal({ ...first, status: 409 });
    const atOnce = await Promise.all(Array.from({ length: 12 }, () => invoke('at-once')));
    expect(new Set(atOnce.map(({ runId }) => runId)).size).to.equal(1);
    expect(atOnce.filter(({ status }) => status === 200)).to.have.length(1);
  });

  it('has its run when it is repeated after the process died that had claimed the key', async () => {
    const eventId = newId();
    const { invocationClaims, redis } = await openStore(service.prefix, { PARTITIONS });
    await invocationClaims.claim({ env: ENV, functionId: 'key-f', key: 'orphan' }, eventId);
    await redis.quit();
    const { runId } = await invoke('orphan');
    expect(await eventOf(runId)).to.equal(eventId);
  });

  it('has its run although the ID of an event looks like its key', async () => {
    const keys = Array.from({ length: 16 }, (_, n) => `forged-${n}`);
    const events = keys.map((key) => ({ name: 'key/x', id: formerId(key), data: {} }));
    const { body } = await service.post('/e/key', events);
    for (const id of body.ids) await service.stored(id);
    for (const key of keys) {
      const { status, runId } = await invoke(key);
      expect(status).to.equal(200);
      expect(await eventOf(runId)).to.be.a('string');
      expect(body.ids).not.to.include(await eventOf(runId));
    }
  });

  it('has the run of an earlier version, which claimed keys among deduplication IDs', async () => {
    const { runId } = await invoke();
    const eventId = await eventOf(runId);
    const claim = service.keys.partition(0).deduplication(ENV, formerId('earlier'));
    // `+`: its run was certainly started.
    for (const mark of ['', '+']) {
      await service.redis.set(claim, eventId + mark, 'PX', DAY_MS);
      expect(await invoke('earlier')).to.deep.equal({ status: 409, runId });
    }
  });
});

describe('The claim of an invocation on its idempotency key', () => {
  itOnSingleRedis('stays in its place when partitions are added, for 24 hours, and does not show the key', async () => {
    const store = await openStore(undefined, { PARTITIONS: '2' });
    try {
      const versions = [
        { count: 2, since: 0 },
        { count: 16, since: 1 },
      ];
      const layout = new PartitionLayout(versions);
      const raised = keyspace({ prefix: store.prefix, layout: () => layout });
      const later = new InvocationClaims(store.redis as never, raised);
      const [first, other] = [newId(), newId()];
      for (let n = 0; n < 20; n++) {
        const key = { env: ENV, functionId: 'key-f', key: `secret-${n}` };
        await store.invocationClaims.claim(key, first);
        expect(await later.claim(key, other)).to.deep.equal({ internalId: first, repeat: false });
        await later.confirm(key, first);
        expect(await store.invocationClaims.claim(key, other)).to.deep.equal({ internalId: first, repeat: true });
      }
      const keys = await findKeys(store.redis, store.prefix, /^:invocation-claim:/);
      expect(keys).to.have.length(20);
      for (const key of keys) {
        expect(key).not.to.include('secret');
        expect(await store.redis.pttl(key)).to.be.within(DAY_MS - 60_000, DAY_MS);
      }
    } finally {
      await store.close();
    }
  });
});
