import { expect } from 'chai';
import { ulid } from 'ulid';
import { DECISION_REASONS, type Decision } from '../../src/model/flow-control/decision.ts';
import { functionDigest } from '../../src/model/flow-control/decision-encoding.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { findKeys, keysOf } from '../support/redis.ts';

const ENV = 'production';
const COUNT = 10_000;
const BYTES_MAX = 60;
/** What a key takes outside of MEMORY USAGE: its entry in the table of TTLs, and in those of both hash tables. */
const UNTOLD_BYTES = 24 + 3 * 8;
const DAY_MS = 86_400_000;

describe('Stored decisions', () => {
  let store: OwnStore;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  const decision = (eventId: string, given: Partial<Decision> = {}): Decision => ({
    env: ENV,
    eventId,
    functionId: 'shop-charge',
    reason: 'paused',
    ...given,
  });

  async function bytesPerDecision(): Promise<number> {
    let bytes = 0;
    for (const key of await keysOf(store.redis, store.prefix)) {
      if (key.includes('decisions'))
        bytes += Number(await store.redis.memory('USAGE', key, 'SAMPLES', 0)) + UNTOLD_BYTES;
    }
    return bytes / COUNT;
  }

  /** @param events of which each decision is about one */
  async function addMany(events: string[], given: Partial<Decision>): Promise<void> {
    for (let start = 0; start < COUNT; start += 500) {
      const some = Array.from({ length: Math.min(500, COUNT - start) }, (_, i) =>
        decision(events[(start + i) % events.length] as string, {
          ...given,
          functionId: `shop-fn-${Math.floor((start + i) / events.length)}`,
        }),
      );
      await store.decisions.add(some, Date.now());
    }
  }

  it('keep run, time and reason', async () => {
    const id = ulid();
    const runId = ulid();
    for (const [i, reason] of DECISION_REASONS.entries()) {
      const given = { ...(i % 2 && { runId }), ...(i % 3 && { until: Date.now() }) };
      await store.decisions.add([decision(id, { functionId: `fn-${i}`, reason, ...given })], Date.now());
      const found = (await store.decisions.of(ENV, id)).find(({ digest }) => digest === functionDigest(`fn-${i}`));
      expect(found?.reason).to.equal(reason);
      expect([found?.runId, found?.until]).to.deep.equal([given.runId, given.until]);
    }
    expect((await store.decisions.of(ENV, id)).length).to.equal(DECISION_REASONS.length);
    expect(await store.decisions.of(ENV, ulid())).to.deep.equal([]);
  });

  it('are stored once, however often they are added, and the last one about a function counts', async () => {
    const events = Array.from({ length: 300 }, () => ulid());
    const all = events.flatMap((id, i) =>
      Array.from({ length: i % 20 }, (_, n) => decision(id, { functionId: `fn-${n}`, reason: 'debounced' })),
    );
    for (let repeat = 0; repeat < 3; repeat++) await store.decisions.add(all, Date.now());
    const runId = ulid();
    for (const last of [{ reason: 'paused' }, { runId: ulid() }, { reason: 'batched' }, { runId }] as const) {
      await store.decisions.add(
        all.map((item) => ({ ...item, ...last })),
        Date.now(),
      );
    }
    for (const [i, id] of events.entries()) {
      const found = await store.decisions.of(ENV, id);
      expect(found.map(({ digest }) => digest).sort()).to.deep.equal(
        Array.from({ length: i % 20 }, (_, n) => functionDigest(`fn-${n}`)).sort(),
      );
      expect(found.every((item) => item.runId === runId)).to.equal(true);
    }
  });

  for (const [what, ids] of [
    ['of one second', () => Array.from({ length: COUNT }, (_, i) => ulid(Date.now() - (i % 1_000)))],
    ['of one millisecond', (now = Date.now()) => Array.from({ length: COUNT }, () => ulid(now))],
    ['of ten hours', () => Array.from({ length: COUNT }, (_, i) => ulid(Date.now() - (COUNT - i) * 3_600))],
    ['of events with ten each', () => Array.from({ length: COUNT / 10 }, (_, i) => ulid(Date.now() - i))],
  ] as const) {
    it(`${what} take at most ${BYTES_MAX} bytes each, with a run or without`, async () => {
      await addMany(ids(), {});
      expect(await bytesPerDecision()).to.be.at.most(BYTES_MAX);
      await store.close();
      store = await openStore();
      await addMany(ids(), { runId: ulid(), reason: 'batched' });
      expect(await bytesPerDecision()).to.be.at.most(BYTES_MAX);
    });
  }

  it('expire with the retention, including those about an event of another day', async () => {
    const old = ulid(Date.now() - 3 * DAY_MS);
    await store.decisions.add([decision(ulid()), decision(old)], Date.now());
    const keys = await findKeys(store.redis, store.prefix, /decisions:/);
    expect(keys.length).to.equal(2);
    expect(keys.some((key) => key.endsWith(`:overflow-decisions:${ENV}:${old}`))).to.equal(true);
    for (const key of keys) expect(await store.redis.pttl(key)).to.be.within(6 * DAY_MS, 7 * DAY_MS);
    expect((await store.decisions.of(ENV, old)).length).to.equal(1);
  });

  it('about one event take at most 8 KiB', async () => {
    const id = ulid();
    const many = Array.from({ length: 200 }, (_, n) => decision(id, { functionId: `fn-${n}` }));
    for (let i = 0; i < 10; i++) {
      const other = many.map((item) => ({ ...item, functionId: `${item.functionId}-${i}` }));
      await store.decisions.add(other, Date.now());
    }
    const [key = ''] = await findKeys(store.redis, store.prefix, /decisions:/);
    expect(await store.redis.strlen(key)).to.be.within(6_500, 8_192);
  });
});
