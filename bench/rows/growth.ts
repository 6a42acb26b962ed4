/** Whether the service gets slower as it fills: throughput with 2,000,000 stored events, 100,000 waiting runs and 2,000 functions,
 *  compared with an empty service in turns; and read latency of the full service. */
import type { Benchmark, Measurement } from '../bench.ts';
import { countCalls } from '../count-calls.ts';
import { BATCH_SIZE, batchOf, eventOf, WEBHOOK_REQUEST } from '../payloads.ts';
import type { Row } from '../row.ts';
import type { BenchFunction } from '../service.ts';
import { median } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';
import { readRows } from './reads.ts';

const EVENTS = 2_000_000;
const WAITING_RUNS = 100_000;
const FUNCTIONS = 2_000;
const APPS = 10;
/** Finished runs of each function. */
const ENDED_RUNS = 5;
/** A trigger of every function. */
const SHARED_EVENT = 'bench/spread';
/** Functions with this in their name fail (host.ts). */
const FAILING = 'failing';
/** Runs per second of a round. */
const RUNS = 4_000;
/** Events between two lines of progress. */
const PROGRESS_STEP = 50_000;
/** Both services have new processes with the same warm-up: warm code is faster, and that is not the difference to measure. */
const WARM_UP_SECONDS = 2;
const WARM_UP_RUNS = 4_000;
const CONNECTIONS = 32;
const EMPTY = 'the empty service';
const RATES = {
  single: { work: 'single events, 32 connections', unit: 'events/s' },
  batch: { work: 'batches of 100, accepted', unit: 'events/s' },
  webhook: { work: 'webhooks with a transform, 32 connections', unit: 'events/s' },
  run: { work: 'one event to one plain function', unit: 'runs/s' },
} as const;
type Rates = Record<keyof typeof RATES, number>;
const workOf = (name: keyof Rates) => `full: ${RATES[name].work}`;
const group = 'growth';

export const growth: Measurement = {
  group,
  names: [...(Object.keys(RATES) as (keyof Rates)[]).map(workOf), 'full: read'],
  measure: (bench) =>
    bench.withTestBed({}, async (full) => {
      await fill(full, bench);
      bench.progress('reading');
      const reads = await readRows(full.service);
      const found: { full: Rates; empty: Rates }[] = [];
      for (let round = 1; round <= bench.options.rounds; round++) {
        if (round > 1) await fillQueue(full, bench);
        bench.progress(`rates, round ${round} of ${bench.options.rounds}`);
        const empty = await bench.withTestBed({}, async (testBed) => {
          await testBed.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
          return measureRates(testBed);
        });
        await full.startWeb();
        found.push({ empty, full: await measureRates(full) });
      }
      const rows = (Object.keys(RATES) as (keyof Rates)[]).map((name): Row => {
        const value = median(found.map((one) => one.full[name]));
        const references = [{ what: EMPTY, value: median(found.map((one) => one.empty[name])) }];
        return {
          group,
          work: workOf(name),
          value,
          unit: RATES[name].unit,
          references,
          targets: [{ share: 0.85, of: EMPTY }],
        };
      });
      return { rows: [...rows, ...reads], costs: [], series: [] };
    }),
};

/** Measures runs first, while no event waits; then, without a worker, accepted events. */
async function measureRates(testBed: TestBed): Promise<Rates> {
  const { eventUrl } = testBed.service;
  const body = eventOf('bench/run');
  const calls = RUNS * testBed.bench.options.seconds;
  await testBed.startWorker();
  // Runs are called in order: the full service calls its waiting runs first, and as many of them.
  await countCalls(testBed, WARM_UP_RUNS, () => testBed.service.sendMany(body, WARM_UP_RUNS));
  const { perSecond } = await countCalls(testBed, calls, () => testBed.service.sendMany(body, calls));
  await testBed.stopWorker();
  const accepted = async (url: string, content: object) => {
    const file = testBed.bodyFile(content);
    await testBed.loadTest(url, file, CONNECTIONS, WARM_UP_SECONDS);
    return (await testBed.loadTest(url, file, CONNECTIONS)).perSecond;
  };
  return {
    run: perSecond,
    single: await accepted(eventUrl, eventOf('bench/single')),
    webhook: await accepted(await testBed.service.createWebhook(), WEBHOOK_REQUEST),
    batch: BATCH_SIZE * (await accepted(eventUrl, batchOf('bench/batch'))),
  };
}

async function fill(testBed: TestBed, bench: Benchmark): Promise<void> {
  const { growthScale } = bench.options;
  const events = Math.ceil(EVENTS * growthScale);
  bench.progress(`loading ${events.toLocaleString('en')} events`);
  await testBed.startWorker();
  const step = Math.min(PROGRESS_STEP, events);
  for (let sent = 0; sent < events; sent += step) {
    await testBed.service.sendMany(eventOf(`bench/kind-${(sent / step) % 10}`), Math.min(step, events - sent));
    bench.progress(`${(await testBed.service.ingestedEvents()).toLocaleString('en')} stored`);
  }
  await testBed.service.untilDrained();
  await testBed.stopWorker();
  await testBed.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
  const functions = Array.from({ length: APPS }, (_, app) =>
    functionsOf(app, Math.ceil((FUNCTIONS * growthScale) / APPS)),
  );
  for (const [app, some] of functions.entries()) await testBed.service.register(`app-${app}`, some);
  await runAllFunctions(testBed, functions.flat());
  await fillQueue(testBed, bench);
}

/** Runs all functions of the apps a few times. */
async function runAllFunctions(testBed: TestBed, functions: readonly BenchFunction[]): Promise<void> {
  const failing = functions.filter(({ id }) => id.startsWith(FAILING)).length;
  await testBed.startWorker();
  for (let n = 1; n <= ENDED_RUNS; n++) {
    await testBed.service.send(eventOf(SHARED_EVENT));
    await testBed.service.untilDrained(n * failing);
    testBed.bench.progress(`${(n * functions.length).toLocaleString('en')} runs have ended`);
  }
  await testBed.service.clearFailedJobs();
  await testBed.stopWorker();
}

/** Ingests all events and leaves WAITING_RUNS runs in the queue. */
async function fillQueue(testBed: TestBed, bench: Benchmark): Promise<void> {
  const missing = Math.ceil(WAITING_RUNS * bench.options.growthScale) - (await testBed.service.queuedJobs()).runs;
  if (missing > 0) await testBed.service.sendMany(eventOf('bench/run'), missing);
  await testBed.ingestBacklog();
  bench.progress(`${(await testBed.service.queuedJobs()).runs.toLocaleString('en')} runs wait`);
}

/** Most triggers are names, some wildcards. One has an expression that rejects every event of the measured runs. A few functions fail. */
function functionsOf(app: number, count: number): BenchFunction[] {
  return Array.from({ length: count }, (_, n) => {
    if (n === 0)
      return { id: `fn-${n}`, event: 'bench/run', expression: 'event.data.total > 1000', also: SHARED_EVENT };
    const event = n % 10 === 0 ? `app-${app}/part-${n}/*` : `app-${app}/task-${n}.done`;
    return { id: `${n % 50 === 1 ? FAILING : 'fn'}-${n}`, event, also: SHARED_EVENT };
  });
}
