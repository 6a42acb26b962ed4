/** Events stored and matched: from a full queue at full speed, and at a rate of 30,000 events/s. Functions are registered whose triggers
 *  are evaluated but do not fire; runs have their own rows. */
import type { Measurement } from '../bench.ts';
import { CostMeter } from '../cost-meter.ts';
import { BATCH_SIZE, batchOf } from '../payloads.ts';
import type { Measured } from '../results.ts';
import type { Row } from '../row.ts';
import type { BenchFunction } from '../service.ts';
import { between, max, median, medians, type Point, slope } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

const TARGET_RATE = 30_000;
/** A little above the target, so that the result does not depend on where the round cuts the last job. */
const BATCHES_PER_SECOND = 306;
/** A backlog that grows by 1 % of the rate is considered unbounded. */
const MAX_GROWTH = TARGET_RATE / 100;
/** One second of events. */
const MAX_BACKLOG = TARGET_RATE;
const CONNECTIONS = 32;
/** The rounds at a fixed rate are longer by this factor; the first half is warm-up. */
const ROUND_FACTOR = 4;
const NAME = 'bench/batch';
const PIPELINES = 'bare Redis pipelines';
const QUEUE_WORK = 'events stored and matched, from a full queue';
const PACED_WORK = `${TARGET_RATE.toLocaleString('en')} events/s in batches of 100: stored and matched`;
const group = 'ingest';

const FUNCTIONS: BenchFunction[] = [
  { id: 'other-name', event: 'bench/other' },
  { id: 'expression', event: NAME, expression: 'event.data.total > 1000' },
  { id: 'wildcard', event: 'bench/*', expression: 'event.data.currency == "USD"' },
  { id: 'other-wildcard', event: 'orders/*' },
];

export const ingestQueued: Measurement = {
  group,
  names: [QUEUE_WORK],
  measure: (bench) => bench.withTestBed({}, ingestFromQueue),
};

export const ingestPaced: Measurement = {
  group,
  names: [PACED_WORK],
  measure: (bench) => bench.withTestBed({}, ingestAtRate),
};

async function ingestFromQueue(testBed: TestBed): Promise<Measured> {
  const { rounds, seconds } = testBed.bench.options;
  await testBed.service.register('bench', FUNCTIONS);
  const pipelines = await testBed.startProcess('bench/references/pipelines.ts', { REDIS_URL: `${testBed.redisUrl}/1` });
  const body = testBed.bodyFile(batchOf(NAME));
  const meter = new CostMeter(testBed);
  const own = async () => {
    await testBed.loadTest(testBed.service.eventUrl, body, CONNECTIONS);
    await testBed.startWorker();
    const before = await testBed.service.ingestedEvents();
    const startedAt = performance.now();
    const drain = async () => {
      await testBed.service.untilIngested();
      return (await testBed.service.ingestedEvents()) - before;
    };
    const settled = await meter.measure(drain, (events) => events);
    const elapsedMs = performance.now() - startedAt;
    await testBed.stopWorker();
    return (1_000 * settled) / elapsedMs;
  };
  const reached = await medians(rounds, { own, pipelines: () => pipelines.ask<number>(seconds) });
  const row: Row = {
    group,
    work: QUEUE_WORK,
    value: reached.own,
    unit: 'events/s',
    references: [{ what: PIPELINES, value: reached.pipelines }],
    targets: [],
  };
  return { rows: [row], costs: [meter.cost('ingest', 'events, stored and matched')], series: [] };
}

interface Backlog {
  settled: Point[];
  /** Accepted events that are not ingested. */
  waiting: Point[];
  jobs: Point[];
}

async function ingestAtRate(testBed: TestBed): Promise<Measured> {
  const { rounds, seconds } = testBed.bench.options;
  await testBed.service.register('bench', FUNCTIONS);
  await testBed.startWorker();
  const pipelines = await testBed.startProcess('bench/references/pipelines.ts', { REDIS_URL: `${testBed.redisUrl}/1` });
  const bare: number[] = [];
  const found: Backlog[] = [];
  for (let round = 0; round < rounds; round++) {
    found.push(await sampleBacklog(testBed, ROUND_FACTOR * seconds));
    bare.push(await pipelines.ask<number>(seconds));
  }
  const late = found.map(({ settled, waiting }) => ({
    settled: rateOf(between(settled, 0.5, 1)),
    growth: slope(between(waiting, 0.5, 1)),
  }));
  const row = { group, references: [] } as const;
  const rows: Row[] = [
    {
      ...row,
      work: PACED_WORK,
      value: median(late.map(({ settled }) => settled)),
      unit: 'events/s',
      references: [{ what: PIPELINES, value: median(bare) }],
      targets: [{ least: TARGET_RATE }],
    },
    {
      ...row,
      work: `${PACED_WORK}; backlog growth`,
      value: median(late.map(({ growth }) => growth)),
      unit: 'events/s',
      references: [],
      targets: [{ most: MAX_GROWTH }],
    },
    {
      ...row,
      work: `${PACED_WORK}; peak backlog`,
      value: Math.max(...found.map(({ waiting }) => max(waiting))),
      unit: 'events',
      references: [],
      targets: [{ most: MAX_BACKLOG }],
    },
  ];
  const { waiting, jobs } = found.at(-1) as Backlog;
  const lines = [
    { name: 'events not yet ingested', points: waiting },
    { name: 'ingest jobs', points: jobs },
  ];
  return { rows, costs: [], series: [{ key: 'backlog', unit: '', lines }] };
}

/** Sends at the fixed rate and samples the progress of the worker ten times per second. */
async function sampleBacklog(testBed: TestBed, seconds: number): Promise<Backlog> {
  const before = await testBed.service.ingestedEvents();
  const seen: Backlog = { settled: [], waiting: [], jobs: [] };
  let looking = Promise.resolve();
  let startedAt: number | undefined;
  const look = async (accepted: number) => {
    const [all, { ingest }] = await Promise.all([testBed.service.ingestedEvents(), testBed.service.queuedJobs()]);
    startedAt ??= performance.now();
    const at = (performance.now() - startedAt) / 1_000;
    seen.settled.push([at, all - before]);
    seen.waiting.push([at, Math.max(0, accepted - (all - before))]);
    seen.jobs.push([at, ingest]);
  };
  const streams = [
    { url: testBed.service.eventUrl, body: JSON.stringify(batchOf(NAME)), perSecond: BATCHES_PER_SECOND },
  ];
  await testBed.sendAtRate({ streams, warmUpSeconds: 0, seconds, connections: CONNECTIONS }, ({ answered }) => {
    looking = looking.then(() => look(answered * BATCH_SIZE));
    // A rejection is thrown below; an unhandled one would end the process.
    looking.catch(() => {});
  });
  await looking;
  await testBed.service.untilIngested();
  return seen;
}

function rateOf(points: readonly Point[]): number {
  const [first, last] = [points[0], points.at(-1)] as [Point, Point];
  return (last[1] - first[1]) / (last[0] - first[0]);
}
