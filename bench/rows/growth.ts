/** Whether the service gets slower as it fills: its rates with 2,000,000 events stored, 100,000 runs waiting and 2,000 functions
 *  registered, beside those of an empty one; and how soon it is read then. Rounds of the full and of an empty service take turns. */
import type { Bench, Measure } from '../bench.ts';
import { called } from '../count-calls.ts';
import { BATCH_SIZE, batchOf, eventOf, WEBHOOK_REQUEST } from '../payloads.ts';
import type { Row } from '../row.ts';
import type { BenchFunction } from '../service.ts';
import { median } from '../statistics.ts';
import type { Stage } from '../test-bed.ts';
import { readRows } from './reads.ts';

const EVENTS = 2_000_000;
const WAITING = 100_000;
const FUNCTIONS = 2_000;
const APPS = 10;
/** Runs of each function that have ended. */
const ENDED = 5;
/** What every function of the apps runs on. */
const SPREAD = 'bench/spread';
/** As the host knows them. */
const FAILING = 'failing';
/** For each second of a round. */
const RUNS = 4_000;
/** Events between two words of how far it is. */
const STEP = 50_000;
/** Both services are as new when their rates are measured, and have had as long to warm up: a process that has long been at work is
 *  faster than one that has just begun, and that is not the difference that is looked for. */
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

export const growth: Measure = {
  group,
  names: [...(Object.keys(RATES) as (keyof Rates)[]).map(workOf), 'full: read'],
  measure: (bench) =>
    bench.onStage({}, async (full) => {
      await fill(full, bench);
      bench.tell('reading');
      const reads = await readRows(full.service);
      const found: { full: Rates; empty: Rates }[] = [];
      for (let round = 1; round <= bench.options.rounds; round++) {
        if (round > 1) await keepWaiting(full, bench);
        bench.tell(`rates, round ${round} of ${bench.options.rounds}`);
        const empty = await bench.onStage({}, async (stage) => {
          await stage.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
          return ratesOf(stage);
        });
        await full.startWeb();
        found.push({ empty, full: await ratesOf(full) });
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

/** Runs first, while nothing waits to be ingested; then, without a worker, what is accepted. */
async function ratesOf(stage: Stage): Promise<Rates> {
  const { door } = stage.service;
  const body = eventOf('bench/run');
  const calls = RUNS * stage.bench.options.seconds;
  await stage.startWorker();
  // Runs are called in turn: on the full service other ones than those that these events cause, and as many.
  await called(stage, WARM_UP_RUNS, () => stage.service.sendMany(body, WARM_UP_RUNS));
  const { perSecond } = await called(stage, calls, () => stage.service.sendMany(body, calls));
  await stage.stopWorker();
  const accepted = async (url: string, content: object) => {
    const file = stage.body(content);
    await stage.load(url, file, CONNECTIONS, WARM_UP_SECONDS);
    return (await stage.load(url, file, CONNECTIONS)).perSecond;
  };
  return {
    run: perSecond,
    single: await accepted(door, eventOf('bench/single')),
    webhook: await accepted(await stage.service.webhook(), WEBHOOK_REQUEST),
    batch: BATCH_SIZE * (await accepted(door, batchOf('bench/batch'))),
  };
}

async function fill(stage: Stage, bench: Bench): Promise<void> {
  const { growthScale } = bench.options;
  const events = Math.ceil(EVENTS * growthScale);
  bench.tell(`loading ${events.toLocaleString('en')} events`);
  await stage.startWorker();
  const step = Math.min(STEP, events);
  for (let sent = 0; sent < events; sent += step) {
    await stage.service.sendMany(eventOf(`bench/kind-${(sent / step) % 10}`), Math.min(step, events - sent));
    bench.tell(`${(await stage.service.settled()).toLocaleString('en')} stored`);
  }
  await stage.service.drained();
  await stage.stopWorker();
  await stage.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
  const functions = Array.from({ length: APPS }, (_, app) =>
    functionsOf(app, Math.ceil((FUNCTIONS * growthScale) / APPS)),
  );
  for (const [app, some] of functions.entries()) await stage.service.register(`app-${app}`, some);
  await runEach(stage, functions.flat());
  await keepWaiting(stage, bench);
}

/** Has all functions of the apps run some times. */
async function runEach(stage: Stage, functions: readonly BenchFunction[]): Promise<void> {
  const failing = functions.filter(({ id }) => id.startsWith(FAILING)).length;
  await stage.startWorker();
  for (let n = 1; n <= ENDED; n++) {
    await stage.service.send(eventOf(SPREAD));
    await stage.service.drained(n * failing);
    stage.bench.tell(`${(n * functions.length).toLocaleString('en')} runs have ended`);
  }
  await stage.service.forgetFailed();
  await stage.stopWorker();
}

/** Has all events ingested, and so many runs waiting for a worker. */
async function keepWaiting(stage: Stage, bench: Bench): Promise<void> {
  const missing = Math.ceil(WAITING * bench.options.growthScale) - (await stage.service.queued()).runs;
  if (missing > 0) await stage.service.sendMany(eventOf('bench/run'), missing);
  await stage.ingestOnly();
  bench.tell(`${(await stage.service.queued()).runs.toLocaleString('en')} runs wait`);
}

/** Most by name, some by wildcard; one looks at every event of the measured runs, and declines. A few fail. */
function functionsOf(app: number, count: number): BenchFunction[] {
  return Array.from({ length: count }, (_, n) => {
    if (n === 0) return { id: `fn-${n}`, event: 'bench/run', expression: 'event.data.total > 1000', also: SPREAD };
    const event = n % 10 === 0 ? `app-${app}/part-${n}/*` : `app-${app}/thing-${n}.done`;
    return { id: `${n % 50 === 1 ? FAILING : 'fn'}-${n}`, event, also: SPREAD };
  });
}
