import { expect } from 'chai';
import { ulid } from 'ulid';
import type { Envelope } from '../../src/model/events/event.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';

const ENV = 'production';
const JOBS = 500;
const NOW = Date.now();

describe('An event that is accepted but not stored yet', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  let jobs = 0;
  /** As BullMQ stores a job. @returns its ID */
  async function addJob(events: Envelope[], addedAt: number): Promise<string> {
    const id = String(++jobs);
    const [first] = events as [Envelope];
    const key = `${store.keys.of(first.internalId).queues}:ingest:${id}`;
    await store.redis.hset(key, 'data', JSON.stringify({ events }), 'timestamp', addedAt);
    return id;
  }
  const queued = (receivedAt: number, more: Partial<Envelope> = {}): Envelope => {
    return { ...envelope({ data: { receivedAt } }, { receivedAt, internalId: ulid(receivedAt) }), ...more };
  };
  const listOf = (event: Envelope, state: string) => `${store.keys.of(event.internalId).queues}:ingest:${state}`;

  it('is found anywhere in a long backlog', async () => {
    const waiting: Envelope[] = [];
    for (let n = 0; n < JOBS; n++) {
      const event = queued(NOW + 20 * n);
      waiting.push(event);
      await store.redis.lpush(listOf(event, 'wait'), await addJob([event], event.receivedAt + (n % 7)));
    }
    for (const n of [0, 1, 249, JOBS - 2, JOBS - 1]) {
      const event = waiting[n] as Envelope;
      expect(await store.queuedEvents.find(ENV, event.internalId)).to.deep.equal(event);
    }
    expect(await store.queuedEvents.find(ENV, ulid(NOW + 3))).to.equal(undefined);
  });

  it('is found in a job that is active, waits for a retry, or has failed', async () => {
    for (const state of ['active', 'delayed', 'failed']) {
      const event = queued(NOW);
      const job = await addJob([queued(NOW), event], NOW + 1);
      if (state === 'active') await store.redis.lpush(listOf(event, state), job);
      else await store.redis.zadd(listOf(event, state), 1, job);
      expect(await store.queuedEvents.find(ENV, event.internalId), state).to.deep.equal(event);
    }
  });

  it('is searched for only in jobs of its time, within the limit of a look-up', async () => {
    const late = NOW + 3_600_000;
    const event = queued(late);
    await store.redis.lpush(listOf(event, 'active'), await addJob([event], late - 1));
    expect(await store.queuedEvents.find(ENV, event.internalId)).to.equal(undefined);
    const text = 'x'.repeat(1_048_576);
    const behind = queued(late + 60_000);
    await store.redis.rpush(listOf(behind, 'active'), await addJob([behind], behind.receivedAt));
    expect(await store.queuedEvents.find(ENV, behind.internalId)).to.deep.equal(behind);
    for (let n = 0; n < 20; n++) {
      const large = queued(behind.receivedAt, { payload: JSON.stringify({ name: 'large', data: { text } }) });
      await store.redis.lpush(listOf(large, 'active'), await addJob([large], behind.receivedAt));
    }
    expect(await store.queuedEvents.find(ENV, behind.internalId)).to.equal(undefined);
  });

  it('is not found in another environment, and not mistaken for its repeat', async () => {
    const event = queued(NOW, { env: 'staging' });
    const repeated = queued(NOW, { repeat: true });
    for (const one of [event, repeated]) {
      await store.redis.lpush(listOf(one, 'active'), await addJob([one], NOW));
      expect(await store.queuedEvents.find(ENV, one.internalId)).to.equal(undefined);
    }
    expect(await store.queuedEvents.find('staging', event.internalId)).to.deep.equal(event);
  });

  it('is looked for in all jobs together with others, or not at all if these are too many', async () => {
    const own = await openStore();
    try {
      const events = [
        queued(NOW),
        queued(0),
        queued(NOW + 1_000_000_000),
        queued(NOW, { env: 'staging' }),
        queued(NOW),
      ];
      const [first, early, late, elsewhere, absent] = events as [Envelope, Envelope, Envelope, Envelope, Envelope];
      const mentioned = { payload: JSON.stringify({ name: 'x', data: { internalId: absent.internalId } }) };
      const jobs = [
        [first, early],
        [queued(NOW, mentioned), late],
        [elsewhere, { ...absent, repeat: true as const }],
      ];
      for (const [n, state] of ['wait', 'failed', 'active'].entries()) {
        const [one] = jobs[n] as [Envelope];
        const key = `${own.keys.of(one.internalId).queues}:ingest`;
        await own.redis.hset(`${key}:j${n}`, 'data', JSON.stringify({ events: jobs[n] }), 'timestamp', NOW);
        if (state === 'failed') await own.redis.zadd(`${key}:failed`, 1, `j${n}`);
        else await own.redis.lpush(`${key}:${state}`, `j${n}`);
      }
      const ids = events.map(({ internalId }) => internalId);
      expect([...(await own.queuedEvents.present(ENV, ids))]).to.have.members(ids.slice(0, 3));
      const others = Array.from({ length: 1_000 }, (_, n) => `other${n}`);
      await own.redis.lpush(`${own.keys.of(absent.internalId).queues}:ingest:wait`, ...others);
      const error = await own.queuedEvents.present(ENV, ids).catch((problem) => problem);
      expect(error).to.include({ code: 'overloaded' });
    } finally {
      await own.close();
    }
  });
});
