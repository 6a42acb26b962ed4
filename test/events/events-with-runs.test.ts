import { expect } from 'chai';
import { type IngestDeps, ingest } from '../../src/jobs/ingestion/ingest.ts';
import type { Envelope } from '../../src/model/events/event.ts';
import { newId } from '../../src/model/ids.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';
import { isCluster, itOnSingleRedis } from '../support/redis.ts';

const ENV = 'production';
const FUNCTION = 'shop-charge';
/** Events of one second are in one bucket. */
const NOW = Date.now();
const newEvent = () => envelope({}, { receivedAt: NOW });

describe('Events that are stored with the runs that they trigger', () => {
  let store: OwnStore;
  let functionsVersion: number;
  before(async () => {
    store = await openStore();
    await store.redis.set(store.keys.functionsVersion(ENV), 7);
    functionsVersion = await store.functions.version(ENV);
  });
  after(() => store.close());

  const runOf = ({ internalId: eventId, requestId }: Envelope, queuedAt: number) => ({
    ...{ id: newId(), env: ENV, functionId: FUNCTION, eventId, requestId, queuedAt },
    reconcileAt: queuedAt + 60_000,
  });

  async function create(events: readonly Envelope[], version = functionsVersion) {
    const write = await store.events.writeOf(events);
    if (!write) throw new Error('The events are not in one bucket');
    const now = Date.now();
    const runs = events.map((event) => runOf(event, now));
    const created = await store.runs.createWithEvents(runs, { write, functionsVersion: version }, () => undefined);
    const found = await Promise.all(runs.map(({ id }) => store.runs.read(ENV, id)));
    return { isCreated: created !== undefined, statuses: found.map((run) => run?.status) };
  }
  const present = async (...events: Envelope[]) => {
    const ids = events.map(({ internalId }) => internalId);
    const found = await store.events.present(ENV, ids);
    return ids.map((id) => found.has(id));
  };

  itOnSingleRedis('are there together', async () => {
    const events = [newEvent(), newEvent()];
    expect(await create(events)).to.deep.equal({ isCreated: true, statuses: ['Queued', 'Queued'] });
    expect(await present(...events)).to.deep.equal([true, true]);
  });

  itOnSingleRedis(
    'are stored without runs if one was stored before: an earlier try may have decided otherwise',
    async () => {
      const [before, other] = [newEvent(), newEvent()];
      await store.events.storeNew([before]);
      expect(await create([before, other])).to.deep.equal({ isCreated: false, statuses: [undefined, undefined] });
      expect(await present(before, other)).to.deep.equal([true, true]);
    },
  );

  itOnSingleRedis('are stored without runs if one is there twice', async () => {
    const event = newEvent();
    expect(await create([event, event])).to.deep.equal({ isCreated: false, statuses: [undefined, undefined] });
    expect(await present(event)).to.deep.equal([true]);
  });

  itOnSingleRedis('are stored without runs if functions were registered meanwhile, or all were deleted', async () => {
    const [outdated, unknown] = [newEvent(), newEvent()];
    expect(await create([outdated], functionsVersion - 1)).to.deep.equal({ isCreated: false, statuses: [undefined] });
    await store.redis.del(store.keys.functionsVersion(ENV));
    expect(await create([unknown])).to.deep.equal({ isCreated: false, statuses: [undefined] });
    expect(await present(outdated, unknown)).to.deep.equal([true, true]);
    await store.redis.set(store.keys.functionsVersion(ENV), functionsVersion);
  });

  itOnSingleRedis(
    'need one bucket: those of different seconds, and those with IDs of another day, are stored by themselves',
    async () => {
      const now = Date.now();
      const at = (receivedAt: number) => envelope({}, { receivedAt });
      expect(await store.events.writeOf([at(now), at(now - 5_000)])).to.equal(undefined);
      const { internalId } = at(now - 3 * 86_400_000);
      expect(await store.events.writeOf([envelope({}, { internalId, receivedAt: now })])).to.equal(undefined);
    },
  );

  if (isCluster)
    it('are stored by themselves in a cluster, where the functions may be on another node', async () => {
      expect(await store.events.writeOf([newEvent()])).to.equal(undefined);
    });

  itOnSingleRedis('are at most as many as have 100 runs', async () => {
    const events = Array.from({ length: 101 }, newEvent);
    expect((await create(events)).isCreated).to.equal(false);
    expect((await create(events.slice(1))).isCreated).to.equal(true);
  });
});

describe('The ingestion of events that trigger functions', () => {
  interface Case {
    /** The functions have changed since the last event. */
    isOutdated?: boolean;
    isRepeat?: boolean;
    hasLimits?: boolean;
    /** Default: 1. */
    functions?: number;
    /** What an earlier try of the job has done. */
    before?: 'stored' | 'ingested';
  }

  /** @returns what was done, in order */
  async function did({ isOutdated, isRepeat, hasLimits, functions = 1, before }: Case): Promise<string[]> {
    const done: string[] = [];
    const event = { ...envelope(), ...(isRepeat && { repeat: true as const }) };
    const table = (id: string) => ({
      *match() {
        done.push(`matches ${id}`);
        for (let n = 0; n < functions; n++) yield { id: `${id} ${n}`, triggers: [] };
      },
      hasPaused: false,
    });
    const [known, current] = [table('known functions'), table('current functions')];
    const stored = { event, repeat: false, ingested: before === 'ingested', ...(before && { present: true }) };
    const deps = {
      environments: { read: async () => undefined },
      events: {
        writeOf: async () => ({}),
        storeNew: async () => {
          done.push('stores events');
          return [stored];
        },
        markIngested: async () => [],
      },
      functions: {
        known: () => ({ version: 1, table: known }),
        of: async () => (isOutdated ? current : known),
        confirm: () => done.push('confirms the functions'),
      },
      starter: {
        start: async (runs: readonly unknown[]) => void done.push(`starts ${runs.length} runs`),
        startWithEvents: async () => {
          done.push('stores events with runs');
          return !isOutdated && before === undefined;
        },
      },
      ids: store.ids,
      waitMatcher: { matchEvents: async () => {} },
      evaluator: { startTurn: () => {}, reportSkipped: async () => {}, shouldYield: false },
      flowControl: { decide: async (proposals: readonly unknown[]) => proposals, passesAll: () => !hasLimits },
      decisions: { add: async () => {} },
      telemetry: { recordIngested: () => {} },
      replicated: (work: () => Promise<unknown>) => work(),
    } as unknown as IngestDeps;
    await ingest([event], deps);
    return done;
  }
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  it('is one round trip for new events and functions without limits', async () => {
    expect(await did({})).to.deep.equal([
      'matches known functions',
      'stores events with runs',
      'confirms the functions',
    ]);
  });

  it('matches once, and then decides, if functions have limits', async () => {
    expect(await did({ hasLimits: true })).to.deep.equal(['matches known functions', 'stores events', 'starts 1 runs']);
  });

  it('is several for an event that triggers more than 100 functions, and matches once', async () => {
    expect(await did({ functions: 100 })).to.include('stores events with runs');
    expect(await did({ functions: 101 })).to.deep.equal([
      'matches known functions',
      'stores events',
      'starts 101 runs',
    ]);
  });

  it('matches again with functions that were registered meanwhile', async () => {
    expect(await did({ isOutdated: true })).to.deep.equal([
      'matches known functions',
      'stores events with runs',
      'stores events',
      'matches current functions',
      'starts 1 runs',
    ]);
    expect(await did({ isOutdated: true, hasLimits: true })).to.deep.equal([
      'matches known functions',
      'stores events',
      'matches current functions',
      'starts 1 runs',
    ]);
  });

  it('matches again what an earlier try has stored', async () => {
    expect(await did({ before: 'stored' })).to.deep.equal([
      'matches known functions',
      'stores events with runs',
      'stores events',
      'matches known functions',
      'starts 1 runs',
    ]);
  });

  it('starts nothing for what an earlier try has ingested, with limits or without', async () => {
    const nothing = ['stores events', 'starts 0 runs'];
    expect(await did({ before: 'ingested' })).to.deep.equal([
      'matches known functions',
      'stores events with runs',
      ...nothing,
    ]);
    expect(await did({ before: 'ingested', hasLimits: true })).to.deep.equal(['matches known functions', ...nothing]);
  });

  it('matches a repeat only once it is known to be one', async () => {
    expect(await did({ isRepeat: true })).to.deep.equal(['stores events', 'matches known functions', 'starts 1 runs']);
  });
});
