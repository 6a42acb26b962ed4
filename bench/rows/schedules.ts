/** How late the ticks of 10,000 schedules are, each once a minute: spread over the minute, and all at its start. */
import { setTimeout } from 'node:timers/promises';
import type { Measurement } from '../bench.ts';
import type { Target } from '../row.ts';
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
/** Different texts with the same ticks: a text counts once in a function. */
const FULL_MINUTE = [
  '0 * * * * *',
  '0 */1 * * * *',
  '0 0-59 * * * *',
  '0 * */1 * * *',
  '0 * 0-23 * * *',
  '0 * * 1-31 * *',
  '0 * * * 1-12 *',
  '0 * * * * 0-6',
  '* * * * *',
  '*/1 * * * *',
];
const WORK = '10,000 schedules of a minute, tick to call';
const [SPREAD, AT_ONCE] = [`${WORK}, spread over the minute`, `${WORK}, all at its start`];
const group = 'schedules';

const TARGETS: Target[] = [{ most: 1_000 }];

export const schedules: Measurement = {
  group,
  names: [SPREAD, AT_ONCE],
  async measure(bench) {
    const spread = await bench.withTestBed({}, (testBed) => {
      let second = 0;
      return lateness(testBed, () => Array.from({ length: PER_FUNCTION }, () => `${second++ % 60} * * * * *`));
    });
    const atOnce = await bench.withTestBed({}, (testBed) => lateness(testBed, () => FULL_MINUTE));
    const row = { group, unit: 'ms', references: [] } as const;
    const rowsOf = (work: string, rounds: number[][]) => [
      { ...row, references: [], work: `${work}, p99`, value: worst(rounds, 0.99), targets: TARGETS },
      { ...row, references: [], work: `${work}, latest`, value: worst(rounds, 1), targets: TARGETS },
    ];
    // Calls that are due together are as late as one worker needs for them: no target of its own beside those of plain runs.
    const rows = [...rowsOf(SPREAD, spread), ...rowsOf(AT_ONCE, atOnce)];
    return { rows, costs: [], series: [] };
  },
};

function worst(rounds: number[][], q: number): number {
  return median(rounds.map((ages) => quantile(ages, q)));
}

/** @returns milliseconds from each tick to its call, of the ticks of one minute in each round */
async function lateness(testBed: TestBed, crons: () => readonly string[]): Promise<number[][]> {
  await testBed.startWorker();
  const perApp = FUNCTIONS_PER_APP * PER_FUNCTION;
  for (let app = 0; app * perApp < SCHEDULES; app++) {
    const functions = Array.from({ length: FUNCTIONS_PER_APP }, (_, i) => ({ id: `f${i}`, crons: crons() }));
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
