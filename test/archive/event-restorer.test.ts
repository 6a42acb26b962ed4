import { expect } from 'chai';
import { ulid } from 'ulid';
import { ArchivedEventRestorer } from '../../src/jobs/archive/event-restorer.ts';
import type { Envelope } from '../../src/model/events/event.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';

const ENV = 'production';
const HOUR_MS = 3_600_000;
const HOT_MS = 24 * HOUR_MS;

describe('The event restorer', () => {
  let store: OwnStore;
  let now: number;
  let archived: Envelope[];
  let asked: string[][];

  beforeEach(async () => {
    store = await openStore();
    now = Date.now();
    archived = [];
    asked = [];
  });

  afterEach(() => store.close());

  const ensure = async (ids: string[], at = now) => {
    const events = {
      async envelopes(env: string, wanted: readonly string[]) {
        asked.push([...wanted]);
        const old = archived.filter(({ internalId }) => wanted.includes(internalId));
        return new Map([
          ...(await store.events.envelopes(env, wanted)),
          ...old.map((event) => [event.internalId, event] as const),
        ]);
      },
    };
    await new ArchivedEventRestorer({ eventsInUse: store.eventsInUse, events, hotMs: HOT_MS }).ensure(ENV, ids, at);
  };
  const inUse = async (upTo = now + 10 * HOUR_MS) => (await store.eventsInUse.due(0, upTo, 10)).map(({ id }) => id);

  it('restores an archived event once, and postpones its check when it is needed again', async () => {
    const event = envelope({ data: { total: 3 } }, { receivedAt: now - 50 * HOUR_MS });
    const { internalId: id } = event;
    archived = [event];
    await ensure([id]);
    expect((await store.events.envelopes(ENV, [id])).get(id)).to.deep.include({
      payload: event.payload,
      source: 'api',
    });
    expect(await inUse(now + 59_999)).to.deep.equal([]);
    expect(await inUse()).to.deep.equal([id]);
    await ensure([id], now + HOUR_MS);
    expect(asked).to.have.length(1);
    expect(await inUse(now + HOUR_MS)).to.deep.equal([]);
    expect(await inUse()).to.deep.equal([id]);
  });

  it('keeps an event that is about to be archived, and does not change younger ones', async () => {
    const [leaving, young] = [
      envelope({}, { receivedAt: now - HOT_MS }),
      envelope({}, { receivedAt: now - HOT_MS / 2 }),
    ];
    await store.events.storeNew([leaving, young]);
    await ensure([leaving.internalId, young.internalId]);
    expect(asked).to.deep.equal([[leaving.internalId]]);
    expect(await inUse()).to.deep.equal([leaving.internalId]);
  });

  it('does not regard an event with an overflow key as archived', async () => {
    const overflow = envelope({}, { receivedAt: now, internalId: ulid(now - 99 * HOUR_MS) });
    await store.events.storeNew([overflow]);
    await ensure([overflow.internalId]);
    expect(await inUse()).to.deep.equal([]);
    expect(await store.events.record(ENV, overflow.internalId)).to.not.equal(undefined);
  });

  it('does nothing for an event that no longer exists', async () => {
    const gone = ulid();
    await ensure([gone]);
    expect(await store.events.record(ENV, gone)).to.equal(undefined);
    expect(await inUse()).to.deep.equal([]);
  });
});
