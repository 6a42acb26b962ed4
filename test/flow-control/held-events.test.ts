import { expect } from 'chai';
import fc from 'fast-check';
import type { Envelope } from '../../src/model/events/event.ts';
import { newId } from '../../src/model/ids.ts';
import { runIdOf } from '../../src/model/runs/run.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';
import { createHoldBed, type Death, type HoldBed } from './hold-bed.ts';

const KEYS = 3;

/** What happens next: a job of some events, a job again (also while another try of it is going on), or timers that are due, or not
 *  yet. */
type Action =
  | { kind: 'ingest'; keys: number[]; offsets: number[]; standsStill: boolean }
  | { kind: 'repeat'; job: number; twice: boolean }
  | { kind: 'look'; all: boolean; dies: Death | undefined }
  | { kind: 'lookEarly' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ingest' as const),
      keys: fc.array(fc.nat(KEYS - 1), { minLength: 1, maxLength: 12 }),
      offsets: fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 12, maxLength: 12 }),
      standsStill: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('repeat' as const), job: fc.nat(30), twice: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('look' as const),
      all: fc.boolean(),
      dies: fc.constantFrom(undefined, undefined, 'before the runs' as const, 'after the runs' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lookEarly' as const) }) },
);

/** @returns all events, once every job was done and nothing waits any more */
async function perform(bed: HoldBed, held: 'batch' | 'debounce', actions: readonly Action[]): Promise<Envelope[]> {
  const base = Date.now() - 60_000;
  const jobs: Envelope[][] = [];
  for (const one of actions) {
    if (one.kind === 'ingest') {
      const events = one.keys.map((key, i) =>
        envelope(
          { name: 'x', data: { key }, ts: base + (one.offsets[i] as number) },
          { internalId: newId(), requestId: newId(), index: i },
        ),
      );
      jobs.push(events);
      await bed.ingest(held, events, one.standsStill ? 5_000 : 0);
    } else if (one.kind === 'repeat') {
      const job = jobs[one.job % Math.max(1, jobs.length)] ?? [];
      if (job.length > 0)
        await Promise.all([bed.ingest(held, job), ...(one.twice ? [bed.ingest(held, job, 5_000)] : [])]);
    } else if (one.kind === 'lookEarly') {
      await bed.lookEarly();
    } else {
      await bed.look(one.all, one.dies);
    }
  }
  await bed.look(true);
  for (const job of jobs) await bed.ingest(held, job);
  await bed.look(true);
  await bed.look(true);
  return jobs.flat();
}

function keyOf({ payload }: Envelope): number {
  return JSON.parse(payload).data.key;
}

describe('Events in batches and debounces, when jobs repeat and processes die', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  it('are in exactly one batch of their key, and no batch exceeds maxSize', async () => {
    const MAX = 4;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
        const bed = createHoldBed(store, { batchEvents: { maxSize: MAX, timeout: '60s', key: 'event.data.key' } });
        const events = await perform(bed, 'batch', actions);
        const batches = [...bed.created.values()].map(({ batch = [] }) => batch);
        expect(batches.flat().sort()).to.deep.equal(events.map(({ internalId }) => internalId).sort());
        const keys = new Map(events.map((event) => [event.internalId, keyOf(event)]));
        for (const batch of batches) {
          expect(batch.length).to.be.within(1, MAX);
          expect(new Set(batch.map((id) => keys.get(id))).size).to.equal(1);
        }
        for (const [runId, { batch = [] }] of bed.created) {
          for (const runs of await bed.store.runLists.briefsByEvent('production', batch)) {
            expect(runs.map(({ id }) => id)).to.deep.equal([runId]);
          }
        }
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it('start one run for each debounce, with its newest event; all others have a decision, and the last event of a key always runs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
        const bed = createHoldBed(store, { debounce: { period: '60s', key: 'event.data.key' } });
        const events = await perform(bed, 'debounce', actions);
        const decided = new Set(bed.decisions.map(({ eventId }) => eventId));
        for (const event of events) {
          const ran = bed.created.has(runIdOf(store.ids, event.internalId, bed.functionId));
          expect([ran, decided.has(event.internalId)], 'it runs, or was debounced').to.deep.equal([ran, !ran]);
        }
        for (const [, ofKey] of Map.groupBy(events, keyOf)) {
          const newest = ofKey.toSorted((a, b) => b.ts - a.ts || (b.internalId > a.internalId ? 1 : -1))[0] as Envelope;
          expect(bed.created.has(runIdOf(store.ids, newest.internalId, bed.functionId))).to.equal(true);
        }
        for (const { eventId, runId } of bed.decisions) {
          if (runId !== undefined) expect(bed.created.has(runId), `the run that stands for ${eventId}`).to.equal(true);
        }
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
});
