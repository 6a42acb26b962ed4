/** Ingestion and runs while the archiver works beside them, and without it. */
import { setTimeout } from 'node:timers/promises';
import { archiveEvent } from '../archive-events.ts';
import type { Measurement } from '../bench.ts';
import { countCalls } from '../count-calls.ts';
import { HOT_MS, untilMoving } from '../moving.ts';
import { eventOf } from '../payloads.ts';
import type { Row } from '../row.ts';
import { median } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

/** Old events per second of a round: more than the archiver moves meanwhile. */
const BACKLOG = 30_000;
const RUNS = 2_000;
const WARM_UP_SECONDS = 2;
const WARM_UP_RUNS = 2_000;
const CONNECTIONS = 32;
const WITHOUT = 'without the archiver';
const INGEST_WORK = 'archiver at work: single events, 32 connections, with a worker';
const RUNS_WORK = 'archiver at work: one event to one plain function';
const BESIDE_WORK = 'archiver at work: events moved meanwhile';
/** No round takes as long: what it sends stays in Redis. */
const ROUND_MS = 60_000;
const group = 'archiver';

interface Rates {
  ingest: number;
  runs: number;
}

export const archiving: Measurement = {
  group,
  names: [INGEST_WORK, RUNS_WORK, BESIDE_WORK],
  measure: (bench) =>
    bench.withTestBed({ archive: true }, async (testBed) => {
      await testBed.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
      const found: { own: Rates; without: Rates; moved: { ingest: number; runs: number } }[] = [];
      for (let round = 1; round <= bench.options.rounds; round++) {
        bench.progress(`round ${round} of ${bench.options.rounds}`);
        const ingest = await beside(testBed, ingestRate);
        const runs = await beside(testBed, runRate);
        found.push({
          own: { ingest: ingest.own, runs: runs.own },
          without: { ingest: ingest.without, runs: runs.without },
          moved: { ingest: ingest.moved, runs: runs.moved },
        });
      }
      const of = (pick: (one: (typeof found)[number]) => number) => median(found.map(pick));
      const row = { group, references: [], targets: [] } as const;
      const rowOf = (work: string, unit: string, name: keyof Rates): Row => ({
        ...row,
        work,
        unit,
        value: of(({ own }) => own[name]),
        references: [{ what: WITHOUT, value: of(({ without }) => without[name]) }],
        targets: [{ share: 0.85, of: WITHOUT }],
      });
      const moved = (name: keyof Rates) => ({ value: of((one) => one.moved[name]), references: [], targets: [] });
      return {
        rows: [
          rowOf(INGEST_WORK, 'events/s', 'ingest'),
          rowOf(RUNS_WORK, 'runs/s', 'runs'),
          { ...row, work: `${BESIDE_WORK}, beside single events`, unit: 'events/s', ...moved('ingest') },
          { ...row, work: `${BESIDE_WORK}, beside runs`, unit: 'events/s', ...moved('runs') },
        ],
        costs: [],
        series: [],
      };
    }),
};

/** Both with the same backlog of old events, which without the archiver nobody touches. */
async function beside(
  testBed: TestBed,
  rate: (testBed: TestBed) => Promise<number>,
): Promise<{ own: number; without: number; moved: number }> {
  const { archive, bench, service } = testBed;
  await testBed.startWorker(archive.envOfHot(24 * 3_600_000));
  await service.sendEach((n) => archiveEvent(n), BACKLOG * bench.options.seconds);
  await service.untilDrained();
  const storedAt = Date.now();
  const without = await rate(testBed);
  await testBed.stopWorker();

  const hotMs = Math.max(HOT_MS, Date.now() - storedAt + ROUND_MS);
  await setTimeout(storedAt + hotMs - Date.now(), undefined, { signal: bench.signal });
  const before = await archive.rows('events');
  // The archiver of a new worker begins once the jobs of a dead one would be taken over.
  await testBed.startWorker({ ...archive.envOfHot(hotMs), STALLED_AFTER_SECONDS: '1' });
  await untilMoving(testBed, before);
  const [moved, startedAt] = [await archive.rows('events'), performance.now()];
  const own = await rate(testBed);
  const perSecond = (1_000 * ((await archive.rows('events')) - moved)) / (performance.now() - startedAt);
  if ((await service.ingestedEvents()) === 0) throw new Error('the archiver had nothing left to move');
  await testBed.stopWorker();
  return { own, without, moved: perSecond };
}

/** Accepted while the worker stores them, until all are stored. */
async function ingestRate(testBed: TestBed): Promise<number> {
  const file = testBed.bodyFile(eventOf('bench/single'));
  await testBed.loadTest(testBed.service.eventUrl, file, CONNECTIONS, WARM_UP_SECONDS);
  await testBed.service.untilIngested();
  const startedAt = performance.now();
  const { requests } = await testBed.loadTest(testBed.service.eventUrl, file, CONNECTIONS);
  await testBed.service.untilIngested();
  return (1_000 * requests) / (performance.now() - startedAt);
}

async function runRate(testBed: TestBed): Promise<number> {
  const body = eventOf('bench/run');
  const count = RUNS * testBed.bench.options.seconds;
  await countCalls(testBed, WARM_UP_RUNS, () => testBed.service.sendMany(body, WARM_UP_RUNS));
  await testBed.service.untilDrained();
  const { perSecond } = await countCalls(testBed, count, () => testBed.service.sendMany(body, count));
  await testBed.service.untilDrained();
  return perSecond;
}
