import { expect } from 'chai';
import fc from 'fast-check';
import type { Envelope } from '../../src/model/events/event.ts';
import { newId } from '../../src/model/ids.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';
import { createLaneBed, type Death, type LaneBed } from './lane-bed.ts';

const KEYS = 2;
const HOUR_MS = 3_600_000;

type Action =
  | { kind: 'ingest'; events: { key: number; by: number | null }[]; dies: Death | undefined }
  | { kind: 'repeat'; job: number }
  | { kind: 'look'; dies: Death | undefined }
  | { kind: 'end'; run: number; status: 'Completed' | 'Failed' | 'Cancelled'; dies: boolean }
  | { kind: 'advance'; ms: number }
  | { kind: 'loseTimers' };

const dies = fc.constantFrom(undefined, undefined, undefined, 'before the runs' as const, 'after the runs' as const);
const event = fc.record({ key: fc.nat(KEYS - 1), by: fc.option(fc.nat(9), { freq: 6 }) });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('ingest' as const),
      events: fc.array(event, { minLength: 1, maxLength: 5 }),
      dies,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), job: fc.nat(20) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('look' as const), dies }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      run: fc.nat(5),
      status: fc.constantFrom('Completed' as const, 'Completed' as const, 'Failed' as const, 'Cancelled' as const),
      dies: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(500, 5_000, 11_000, 61_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('loseTimers' as const) }) },
);
const order = fc.record({
  key: fc.constant('event.data.key'),
  by: fc.constant('event.data.by'),
  window: fc.constantFrom('0s', '5s'),
  onStale: fc.constantFrom('run', 'skip'),
  onFailure: fc.constantFrom('skip', 'block', 'park'),
});

const dataOf = ({ payload }: Envelope): { key: number; by: number | null } => JSON.parse(payload).data;

describe('Events in lanes, when jobs repeat and processes die', function () {
  this.timeout(60_000);
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  /** @returns all events, once nothing waits any more */
  async function perform(bed: LaneBed, actions: readonly Action[]): Promise<Map<string, Envelope>> {
    const jobs: Envelope[][] = [];
    const active = () => bed.started.filter((run) => run.active);
    const keyOf = new Map<string, number>();
    const eventsOf = (all: readonly { key: number; by: number | null }[]) =>
      all.map((data, index) => {
        const event = envelope({ name: 'x', data }, { internalId: newId(), requestId: newId(), index });
        keyOf.set(event.internalId, data.key);
        return event;
      });
    const noneTogether = () => {
      const keys = active().map(({ eventId }) => keyOf.get(eventId));
      expect(new Set(keys).size, 'two runs of a key at a time').to.equal(keys.length);
    };
    for (const one of actions) {
      if (one.kind === 'ingest') {
        const events = eventsOf(one.events);
        jobs.push(events);
        await bed.ingest(events, one.dies);
      } else if (one.kind === 'repeat') await bed.ingest(jobs[one.job % Math.max(1, jobs.length)] ?? []);
      else if (one.kind === 'look') await bed.look(one.dies);
      else if (one.kind === 'advance') await bed.advance(one.ms);
      else if (one.kind === 'loseTimers') bed.loseTimers();
      else {
        const run = active()[one.run % Math.max(1, active().length)];
        if (run) await bed.end(run, one.status, one.dies);
      }
      noneTogether();
    }
    for (const job of jobs) await bed.ingest(job);
    for (let round = 0; (await store.redis.hlen(store.keys.partition(0).lanes(bed.env, bed.id))) > 0; round++) {
      if (round === 200) throw new Error('a lane is stuck');
      for (const runId of bed.unfollowed) await bed.follow(runId);
      for (const lane of (await store.lanes.list(bed.env, bed.id, 0, { isStopped: true, limit: 10 })).lanes) {
        await bed.laneEnds.change(bed.env, { id: lane.id, order: bed.id }, 'retry');
      }
      // Any event that comes sets a timer whose job was lost.
      const passer = eventsOf([{ key: KEYS + round, by: null }]);
      jobs.push(passer);
      await bed.ingest(passer);
      await bed.advance(31_000);
      await bed.look();
      noneTogether();
      for (const run of active()) await bed.end(run, 'Completed');
    }
    return new Map(jobs.flat().map((item) => [item.internalId, item]));
  }

  it('run once, one after another, and with `onStale: skip` in the order of their values', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(order, fc.array(action, { maxLength: 40 }), async (options, actions) => {
        const bed = createLaneBed(store, options, `f-${number++}`);
        const events = await perform(bed, actions);
        const first = new Map(bed.started.map((run) => [run.eventId, run]));
        for (const id of events.keys()) {
          const isSuperseded = bed.decisions.get(id)?.reason === 'superseded';
          expect(first.has(id) !== isSuperseded, `${id} has a run, or is superseded`).to.equal(true);
          if (options.onStale === 'run') expect(isSuperseded).to.equal(false);
        }
        if (options.onStale === 'skip') {
          for (let key = 0; key < KEYS; key++) {
            const values = [...new Set(bed.started.map(({ eventId }) => eventId))].flatMap((id) => {
              const data = dataOf(events.get(id) as Envelope);
              return data.key === key && data.by !== null ? [data.by] : [];
            });
            expect(values).to.deep.equal(values.toSorted((a, b) => a - b));
          }
        }
        const keys = await store.redis.keys(`${store.prefix}:*lane*`);
        const kinds = new Set(keys.map((name) => name.slice(store.prefix.length + 1).split(':')[0]));
        expect([...kinds].filter((kind) => kind !== 'last-in-lane' && kind !== 'lane-look')).to.deep.equal([]);
      }),
      { numRuns: 100 },
    );
  });

  it('write no other keys, whatever the ID of their function is', async () => {
    const victim = `victim-${newId()}`;
    const bed = createLaneBed(store, { key: "'all'" }, ['=f', victim, victim, victim, victim, victim].join('\x1f'));
    for (let n = 0; n < 2; n++) await bed.ingest([envelope({ name: 'x' }, { internalId: newId() })]);
    expect(bed.started).to.have.length(1);
    expect(await store.redis.keys(`*${victim}*`)).to.satisfy((keys: string[]) =>
      keys.every((key) => key.startsWith(store.prefix)),
    );
  });

  it('are looked at once an hour at the latest, for as long as their runs last', async () => {
    const bed = createLaneBed(store, { key: "'all'" }, 'long');
    await bed.ingest([envelope({ name: 'x' }, { internalId: newId() })]);
    const [run] = bed.started as [LaneBed['started'][number]];
    for (let hour = 0; hour < 3; hour++) {
      await bed.advance(HOUR_MS);
      await bed.look();
    }
    // Its end is lost.
    await bed.end(run, 'Completed', true);
    await bed.ingest([envelope({ name: 'x' }, { internalId: newId() })]);
    expect(bed.started).to.have.length(1);
    await bed.advance(HOUR_MS);
    await bed.look();
    await bed.look();
    expect(bed.started).to.have.length(2);
  });
});
