import { expect } from 'chai';
import { PastEvents } from '../../src/history/past-events.ts';
import { Archiver } from '../../src/jobs/archive/archiver.ts';
import type { Envelope } from '../../src/model/events/event.ts';
import { eventRow, type OwnArchive, openArchive } from '../support/own-archive.ts';
import { envelope } from '../support/own-store.ts';

const ENV = 'production';
const HOUR_MS = 3_600_000;

describe('Past events', () => {
  let archive: OwnArchive;
  let now: number;

  beforeEach(async () => {
    archive = await openArchive();
    now = Date.now();
  });

  afterEach(() => archive.close());

  async function store(...events: Envelope[]) {
    await archive.store.events.storeNew(events);
    await archive.store.events.markIngested(
      events.map((event) => ({ event, repeat: false, ingested: false })),
      now,
    );
  }

  async function ship(...events: Envelope[]) {
    const rows = events.map(({ internalId, receivedAt, name, payload }) => ({
      ...eventRow({ id: internalId, at: receivedAt, name }),
      payload,
    }));
    await archive.shipments.ship({ events: rows, runs: [] });
  }

  async function since(at: number, limit = 100, events: PastEvents | OwnArchive['store']['events'] = pastEvents()) {
    const found: { internalId: string; payload: string }[] = [];
    for await (const page of events.since(ENV, 'test/x', at, limit)) {
      found.push(...page.map(({ internalId, payload }) => ({ internalId, payload })));
    }
    return found;
  }
  const pastEvents = () => new PastEvents({ events: archive.store.events, archive });
  const shown = ({ internalId, payload }: Envelope) => ({ internalId, payload });

  it('are found in the archive and in Redis, each once, oldest first', async () => {
    const events = [50, 40, 30, 20, 10, 0].map((hours) =>
      envelope({ data: { hours } }, { receivedAt: now - hours * HOUR_MS }),
    );
    const other = envelope({ name: 'test/y' }, { receivedAt: now - 35 * HOUR_MS });
    await store(...events.slice(0, 2));
    await new Archiver({ archive, store: archive.store }).round(0);
    const ids = events.map(({ internalId }) => internalId);
    expect(await archive.store.events.readMany(ENV, ids)).to.deep.equal([]);
    // The third is on its way.
    await store(...events.slice(2), other);
    await ship(...events.slice(2, 3), other);
    const all = events.map(shown);
    expect(await since(0)).to.deep.equal(all);
    expect(await since(now - 45 * HOUR_MS)).to.deep.equal(all.slice(1));
    expect(await since(now - HOUR_MS)).to.deep.equal(all.slice(5));
    expect(await since(0, 2)).to.deep.equal(all.slice(0, 2));
    expect(await since(0, 4)).to.deep.equal(all.slice(0, 4));
  });

  it('are found even when they leave Redis meanwhile', async () => {
    const event = envelope({}, { receivedAt: now - 30 * HOUR_MS });
    const hot = {
      async *since() {
        await ship(event);
        yield [];
      },
    };
    const events = new PastEvents({ events: hot as unknown as OwnArchive['store']['events'], archive });
    expect(await since(0, 100, events)).to.deep.equal([shown(event)]);
  });
});
