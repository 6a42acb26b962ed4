/** How late the ticks of 10,000 schedules are, each once a minute: spread over the minute, and all at its start. Those are compared with as many
 *  runs that events start at once, and may take twice their time: a tick is a run, and one worker cannot make 10,000 calls in a second. */
import { setTimeout } from 'node:timers/promises';
import type { Measurement } from '../bench.ts';
import { countCalls } from '../count-calls.ts';
import type { Reference, Row, Target } from '../row.ts';
import { median, quantile } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

const SCHEDULES = 10_000;
const PER_FUNCTION = 10;
const FUNCTIONS_PER_APP = 100;
const MINUTE_MS = 60_000;
/** From a registration to the minute that is measured, at least. */
const LEAD_MS = 5_000;
/** A round ends without the calls that are later. */
const LATE_MS = 50_000;
const WORK = '10,000 schedules of a minute, tick to call';
const [SPREAD, AT_ONCE] = [`${WORK}, spread over the minute`, `${WORK}, all at its start`];
const PLAIN = 'as many plain runs at once';
const group = 'schedules';

const SPREAD_TARGETS: Target[] = [{ most: 1_000 }];
const AT_ONCE_TARGETS: Target[] = [{ times: 2, of: PLAIN }];

export const schedules: Measurement = {
  group,
  names: [SPREAD, AT_ONCE],
  async measure(bench) {
    const spread = await bench.withTestBed({}, async (testBed) => {
      await testBed.startWorker();
      let second = 0;
      return lateness(testBed, () => Array.from({ length: PER_FUNCTION }, () => `${second++ % 60} * * * * *`));
    });
    const atOnce = await bench.withTestBed({}, async (testBed) => {
      const plain = await plainRunsMs(testBed);
      // One schedule per function: those of a function that tick at the same time start one run.
      return { plain, rounds: await lateness(testBed, () => ['* * * * *']) };
    });
    const rowsOf = (work: string, rounds: number[][], references: Reference[], targets: Target[]): Row[] =>
      (
        [
          ['p99', 0.99],
          ['latest', 1],
        ] as const
      ).map(([name, q]) => ({
        group,
        work: `${work}, ${name}`,
        value: worst(rounds, q),
        unit: 'ms',
        references,
        targets,
      }));
    const rows = [
      ...rowsOf(SPREAD, spread, [], SPREAD_TARGETS),
      ...rowsOf(AT_ONCE, atOnce.rounds, [{ what: PLAIN, value: atOnce.plain }], AT_ONCE_TARGETS),
    ];
    return { rows, costs: [], series: [] };
  },
};

function worst(rounds: number[][], q: number): number {
  return median(rounds.map((ages) => quantile(ages, q)));
}

/** @returns milliseconds from the first event to the last call */
async function plainRunsMs(testBed: TestBed): Promise<number> {
  await testBed.startWorker();
  await testBed.service.register('plain', [{ id: 'run', event: 'bench/run' }]);
  const rounds: number[] = [];
  for (let round = 0; round < testBed.bench.options.rounds; round++) {
    const send = () => testBed.service.sendMany({ name: 'bench/run', data: { total: 1 } }, SCHEDULES);
    rounds.push(1_000 * (await countCalls(testBed, SCHEDULES, send)).seconds);
    await testBed.service.untilDrained();
  }
  return median(rounds);
}

/** @returns milliseconds from each tick to its call, of the ticks of one minute in each round */
async function lateness(testBed: TestBed, crons: () => readonly string[]): Promise<number[][]> {
  for (let app = 0, added = 0; added < SCHEDULES; app++) {
    const functions = Array.from({ length: FUNCTIONS_PER_APP }, (_, i) => ({ id: `f${i}`, crons: crons() }));
    added += functions.reduce((sum, fn) => sum + fn.crons.length, 0);
    await testBed.service.register(`bench${app}`, functions);
  }
  const rounds: number[][] = [];
  for (let round = 0; round < testBed.bench.options.rounds; round++) rounds.push(await nextMinute(testBed));
  return rounds;
}

async function nextMinute(testBed: TestBed): Promise<number[]> {
  const startsAt = Math.ceil((Date.now() + LEAD_MS) / MINUTE_MS) * MINUTE_MS;
  const { signal } = testBed.bench;
  // A tick of the minute before may be late.
  await setTimeout(startsAt - 500 - Date.now(), undefined, { signal });
  await testBed.host();
  const ages: number[] = [];
  const deadline = startsAt + MINUTE_MS + LATE_MS;
  while (ages.length < SCHEDULES && Date.now() < deadline) {
    await setTimeout(100, undefined, { signal });
    ages.push(...(await testBed.host()).ages);
  }
  if (ages.length < SCHEDULES) throw new Error(`${ages.length} of ${SCHEDULES} ticks had a call`);
  return ages.slice(0, SCHEDULES);
}
