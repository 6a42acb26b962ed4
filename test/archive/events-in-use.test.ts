import { expect } from 'chai';
import { ulid } from 'ulid';
import { ArchivedEventRestorer } from '../../src/jobs/archive/event-restorer.ts';
import { writeEvent } from '../../src/model/events/event-encoding.ts';
import type { EventsInUse } from '../../src/store/events/events-in-use.ts';
import { isOverflow } from '../../src/store/runs/event-runs.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';

const ENV = 'production';
const HOUR_MS = 3_600_000;

describe('An archived event in Redis', () => {
  let store: OwnStore;
  let inUse: EventsInUse;
  let now: number;

  beforeEach(async () => {
    store = await openStore();
    inUse = store.eventsInUse;
    now = Date.now();
  });

  afterEach(() => store.close());

  const newRun = (eventId: string, queuedAt = now) => ({
    id: ulid(queuedAt),
    env: ENV,
    functionId: 'app-fn',
    eventId,
    requestId: ulid(),
    queuedAt,
    reconcileAt: now + HOUR_MS,
  });
  const due = () => inUse.due(0, now + 10 * HOUR_MS, 10);

  it('is read as before, and is checked when it is due', async () => {
    const event = envelope({ data: { total: 3 } }, { receivedAt: now - 50 * HOUR_MS });
    const { internalId: id } = event;
    await inUse.add(ENV, id, writeEvent(event, 'api'), now + 1_000);
    expect((await store.events.envelopes(ENV, [id])).get(id)).to.deep.include({
      payload: event.payload,
      source: 'api',
    });
    expect(await inUse.due(0, now, 10)).to.deep.equal([]);
    expect(await due()).to.deep.equal([{ env: ENV, id }]);
    await inUse.postpone(ENV, id, now + 20 * HOUR_MS);
    expect(await due()).to.deep.equal([]);
  });

  for (const lateMs of [0, 50 * HOUR_MS]) {
    it(`is released with the list of its runs, unless it has got another one (${lateMs / HOUR_MS} h later)`, async () => {
      const event = envelope({}, { receivedAt: now - lateMs });
      const { internalId: id } = event;
      await inUse.add(ENV, id, writeEvent(event, 'api'), now);
      const [first, second] = [newRun(id), newRun(id)];
      expect(isOverflow(id, now)).to.equal(lateMs > 0);
      await store.runs.create([first]);
      const seen = [first.id];
      await store.runs.create([second]);
      expect(await inUse.release(ENV, id, seen)).to.equal(false);
      expect(await store.events.record(ENV, id)).to.not.equal(undefined);
      expect(await inUse.release(ENV, id, [first.id, second.id])).to.equal(true);
      expect(await store.events.record(ENV, id)).to.equal(undefined);
      expect(await store.runLists.readByEvent(ENV, id)).to.deep.equal([]);
      expect(await due()).to.deep.equal([]);
      expect(await inUse.release(ENV, id, [])).to.equal(true);
    });
  }

  it('gets no entry while it is not archived', async () => {
    const inBucket = envelope({}, { receivedAt: now });
    const overflow = envelope({}, { receivedAt: now, internalId: ulid(now - 99 * HOUR_MS) });
    await store.events.storeNew([inBucket, overflow]);
    const ids = [inBucket.internalId, overflow.internalId, ulid()];
    expect(await inUse.keep(ENV, ids, now)).to.deep.equal([true, true, false]);
    expect(await due()).to.deep.equal([]);
  });

  it('is brought back once, and its check is postponed', async () => {
    const [archived, hot] = [envelope({}, { receivedAt: now - 50 * HOUR_MS }), envelope({ name: 'test/hot' })];
    await store.events.storeNew([hot]);
    const asked: string[][] = [];
    const restorer = new ArchivedEventRestorer(inUse, {
      async envelopes(_env: string, ids: readonly string[]) {
        asked.push([...ids]);
        return new Map(
          [archived].filter(({ internalId }) => ids.includes(internalId)).map((one) => [one.internalId, one]),
        );
      },
    });
    const ids = [archived.internalId, hot.internalId];
    await restorer.ensure(ENV, ids, now);
    expect((await store.events.envelopes(ENV, ids)).size).to.equal(2);
    expect(await inUse.due(0, now + 59_999, 10)).to.deep.equal([]);
    await restorer.ensure(ENV, ids, now + HOUR_MS);
    expect(asked).to.deep.equal([[archived.internalId]]);
    expect(await inUse.due(0, now + HOUR_MS, 10)).to.deep.equal([]);
    expect(await due()).to.deep.equal([{ env: ENV, id: archived.internalId }]);
    const gone = ulid();
    await restorer.ensure(ENV, [gone], now);
    expect(await store.events.record(ENV, gone)).to.equal(undefined);
  });
});
