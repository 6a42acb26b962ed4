import { expect } from 'chai';
import { ulid } from 'ulid';
import { EventSearch } from '../../src/history/event-search.ts';
import { createHistory } from '../../src/history/history.ts';
import { eventSourceOf } from '../../src/jobs/replays/event-source.ts';
import { FIRST_WINDOW_MS, readWindow } from '../../src/jobs/replays/event-windows.ts';
import type { EventFilter, ReplayPosition } from '../../src/model/replays/replay.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';

const HOUR_MS = 3_600_000;

describe('A replay reads events', () => {
  let store: OwnStore;
  const begin = Date.now() - HOUR_MS;
  /** In the order of receipt, then of their IDs. */
  let sorted: string[];
  before(async () => {
    store = await openStore();
    // Many in one millisecond, some close together, and some with long breaks.
    const times = [
      ...Array.from({ length: 130 }, () => begin + 1_000),
      ...Array.from({ length: 60 }, (_, n) => begin + 1_001 + Math.floor(n / 3)),
      begin + 600_000,
      begin + 3_000_000,
    ];
    const envelopes = times.map((receivedAt, n) =>
      envelope({ name: n % 2 ? 'odd/x' : 'even/x', data: { n } }, { receivedAt, internalId: ulid(receivedAt) }),
    );
    await store.events.markIngested(await store.events.storeNew(envelopes), Date.now());
    sorted = envelopes
      .sort((a, b) => a.receivedAt - b.receivedAt || (a.internalId < b.internalId ? -1 : 1))
      .map(({ internalId }) => internalId);
  });
  after(() => store?.close());

  async function walk(filter: EventFilter, limit: number, first: ReplayPosition = { at: begin }): Promise<string[]> {
    const history = createHistory(store, undefined);
    const search = new EventSearch({ ...store, archive: undefined });
    const source = eventSourceOf('production', filter, { ...history, search });
    const ids: string[] = [];
    let position = first;
    let windowMs = FIRST_WINDOW_MS;
    for (let reads = 0; position.at < begin + HOUR_MS; reads++) {
      expect(reads).to.be.below(500);
      const window = await readWindow({ position, before: begin + HOUR_MS, windowMs, limit }, source);
      expect(window.events.length).to.be.at.most(limit);
      ids.push(...window.events.map(({ internal_id }) => internal_id));
      ({ next: position, windowMs } = window);
    }
    return ids;
  }

  for (const limit of [1, 7, 20, 200]) {
    it(`from the oldest to the newest, each once, ${limit} at a time, however many came in one millisecond`, async () => {
      expect(await walk({}, limit)).to.deep.equal(sorted);
    });
  }

  it('that a search finds in the same way', async () => {
    const events = await store.events.readMany('production', sorted);
    const wanted = events.filter(({ name }) => name === 'odd/x').map(({ internal_id }) => internal_id);
    expect(await walk({ name: 'odd/*' }, 20)).to.deep.equal(wanted);
    expect(await walk({ name: 'odd/x' }, 20)).to.deep.equal(wanted);
    expect(await walk({ search: 'data.n == 17' }, 20)).to.have.length(1);
    const [, , third = ''] = sorted;
    expect(await walk({ idPrefix: third }, 20)).to.deep.equal([third]);
  });

  it('starting at any position', async () => {
    const position = { at: begin + 1_000, id: sorted[50] };
    expect(await walk({}, 20, position)).to.deep.equal(sorted.slice(51));
    // Some functions of that event are left.
    expect(await walk({}, 20, { ...position, functionId: 'shop-a' })).to.deep.equal(sorted.slice(50));
  });
});
