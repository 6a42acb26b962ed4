/** How fast the archiver moves events from Redis to Postgres, alone and with a run each, beside the least that a move of the same rows takes, and beside
 *  COPY of them alone. */
import { archiveEvent } from '../archive-events.ts';
import type { ArchiveTable } from '../bed-archive.ts';
import type { Measurement } from '../bench.ts';
import { CostMeter } from '../cost-meter.ts';
import { moveAll, store } from '../moving.ts';
import { copyAgain } from '../references/copy.ts';
import type { Row, Target } from '../row.ts';
import { median } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

/** Events per second of a round. */
const EVENTS = 20_000;
const COPY = 'plain COPY of the same rows';
const BARE = 'a bare move of the same rows';
const EVENTS_WORK = 'archive: events moved from Redis to Postgres';
const RUNS_WORK = 'archive: events with a run each moved from Redis to Postgres';
const RUN_EVENT = 'bench/run';
const group = 'archiver';
const TARGETS: Target[] = [{ least: 10_000 }, { share: 0.5, of: BARE }];

export const archiver: Measurement = {
  group,
  names: [EVENTS_WORK, RUNS_WORK],
  measure: (bench) =>
    bench.withTestBed({ archive: true }, async (testBed) => {
      await testBed.service.register('bench', [{ id: 'run', event: RUN_EVENT }]);
      const [ofEvents, ofRuns] = [new CostMeter(testBed), new CostMeter(testBed)];
      const events = await rowOf(testBed, ofEvents, { work: EVENTS_WORK, tables: ['events'] });
      const runs = await rowOf(testBed, ofRuns, { work: RUNS_WORK, tables: ['events', 'runs'], name: RUN_EVENT });
      const costs = [
        ofEvents.cost('move', 'events moved to the archive'),
        ofRuns.cost('move-with-run', 'events with a run each moved to the archive'),
      ];
      return { rows: [events, runs], costs, series: [] };
    }),
};

async function rowOf(
  testBed: TestBed,
  meter: CostMeter,
  { work, tables, name }: { work: string; tables: readonly ArchiveTable[]; name?: string },
): Promise<Row> {
  const { archive, bench } = testBed;
  const { rounds, seconds } = bench.options;
  const count = EVENTS * seconds;
  const bareMove = await testBed.startProcess('bench/references/bare-move.ts', {
    REDIS_URL: `${testBed.redisUrl}/1`,
    DATABASE_URL: archive.url,
    DATABASE_SCHEMA: archive.schema,
  });
  const [own, bare, copy]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    await archive.empty();
    await store(testBed, count, (n) => archiveEvent(n, name));
    own.push(await moveAll(testBed, count, meter));
    const names = (await Promise.all(tables.map((table) => archive.dayTables(table)))).flat();
    bare.push((1_000 * count) / (await bareMove.ask<number>(names)));
    copy.push((1_000 * count) / (await copyAgain(archive, tables)));
    bench.progress(`${Math.round(own.at(-1) as number)} of ${Math.round(bare.at(-1) as number)} events/s`);
  }
  await testBed.stopProcess(bareMove);
  return {
    group,
    work,
    value: median(own),
    unit: 'events/s',
    references: [
      { what: BARE, value: median(bare) },
      { what: COPY, value: median(copy) },
    ],
    targets: TARGETS,
  };
}
