/** Events stored and matched: from a full queue, as fast as it goes; and as they come, 30,000 a second, with functions registered whose
 *  triggers are looked up and evaluated and do not fire (runs are rows of their own). */
import type { Measure } from '../bench.ts';
import { BATCH_SIZE, batchOf } from '../bodies.ts';
import { Meter } from '../meter.ts';
import { between, highest, median, type Point, slope } from '../numbers.ts';
import type { Found } from '../results.ts';
import { medians } from '../rounds.ts';
import type { Row } from '../row.ts';
import type { BenchFunction } from '../service.ts';
import type { Stage } from '../stage.ts';

const WANTED = 30_000;
/** A little more than is wanted, so that the rate that is reached does not hang on where the clock cuts the last job. */
const BATCHES_PER_SECOND = 306;
/** A backlog that grows by a hundredth of what comes would in the end be any size. */
const MOST_GROWTH = WANTED / 100;
/** What comes in a second. */
const MOST_BACKLOG = WANTED;
const CONNECTIONS = 32;
/** The paced round is so many times as long as others; the first half of it is warming up. */
const LENGTH = 4;
const NAME = 'bench/batch';
const PIPELINES = 'bare Redis pipelines';
const QUEUE_WORK = 'events stored and matched, from a full queue';
const PACED_WORK = `${WANTED.toLocaleString('en')} events/s in batches of 100: stored and matched`;
const group = 'ingest';

const FUNCTIONS: BenchFunction[] = [
  { id: 'other-name', event: 'bench/other' },
  { id: 'expression', event: NAME, expression: 'event.data.total > 1000' },
  { id: 'wildcard', event: 'bench/*', expression: 'event.data.currency == "USD"' },
  { id: 'other-wildcard', event: 'orders/*' },
];

export const ingestQueued: Measure = {
  group,
  names: [QUEUE_WORK],
  measure: (bench) => bench.onStage({}, fromQueue),
};

export const ingestPaced: Measure = {
  group,
  names: [PACED_WORK],
  measure: (bench) => bench.onStage({}, atPace),
};

async function fromQueue(stage: Stage): Promise<Found> {
  const { rounds, seconds } = stage.bench.options;
  await stage.service.register('bench', FUNCTIONS);
  const pipelines = await stage.begin('bench/references/pipelines.ts', { REDIS_URL: `${stage.redisUrl}/1` });
  const body = stage.body(batchOf(NAME));
  const meter = new Meter(stage);
  const own = async () => {
    await stage.load(stage.service.door, body, CONNECTIONS);
    await stage.startWorker();
    const before = await stage.service.settled();
    const startedAt = performance.now();
    const drain = async () => {
      await stage.service.ingested();
      return (await stage.service.settled()) - before;
    };
    const settled = await meter.over(drain, (events) => events);
    const elapsedMs = performance.now() - startedAt;
    await stage.stopWorker();
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
  /** Events that were accepted and are not settled. */
  waiting: Point[];
  jobs: Point[];
}

async function atPace(stage: Stage): Promise<Found> {
  const { rounds, seconds } = stage.bench.options;
  await stage.service.register('bench', FUNCTIONS);
  await stage.startWorker();
  const pipelines = await stage.begin('bench/references/pipelines.ts', { REDIS_URL: `${stage.redisUrl}/1` });
  const bare: number[] = [];
  const found: Backlog[] = [];
  for (let round = 0; round < rounds; round++) {
    found.push(await watched(stage, LENGTH * seconds));
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
      targets: [{ least: WANTED }],
    },
    {
      ...row,
      work: `${PACED_WORK}; backlog growth`,
      value: median(late.map(({ growth }) => growth)),
      unit: 'events/s',
      references: [],
      targets: [{ most: MOST_GROWTH }],
    },
    {
      ...row,
      work: `${PACED_WORK}; peak backlog`,
      value: Math.max(...found.map(({ waiting }) => highest(waiting))),
      unit: 'events',
      references: [],
      targets: [{ most: MOST_BACKLOG }],
    },
  ];
  const { waiting, jobs } = found.at(-1) as Backlog;
  const lines = [
    { name: 'events not yet ingested', points: waiting },
    { name: 'ingest jobs', points: jobs },
  ];
  return { rows, costs: [], series: [{ key: 'backlog', unit: '', lines }] };
}

/** Sends at the pace, and looks ten times a second how far the worker is. */
async function watched(stage: Stage, seconds: number): Promise<Backlog> {
  const before = await stage.service.settled();
  const seen: Backlog = { settled: [], waiting: [], jobs: [] };
  let looking = Promise.resolve();
  let startedAt: number | undefined;
  const look = async (accepted: number) => {
    const [all, { ingest }] = await Promise.all([stage.service.settled(), stage.service.queued()]);
    startedAt ??= performance.now();
    const at = (performance.now() - startedAt) / 1_000;
    seen.settled.push([at, all - before]);
    seen.waiting.push([at, Math.max(0, accepted - (all - before))]);
    seen.jobs.push([at, ingest]);
  };
  const streams = [{ url: stage.service.door, body: JSON.stringify(batchOf(NAME)), perSecond: BATCHES_PER_SECOND }];
  await stage.paced({ streams, warmUpSeconds: 0, seconds, connections: CONNECTIONS }, ({ answered }) => {
    looking = looking.then(() => look(answered * BATCH_SIZE));
    // Thrown below; until then it shall not end the process.
    looking.catch(() => {});
  });
  await looking;
  await stage.service.ingested();
  return seen;
}

function rateOf(points: readonly Point[]): number {
  const [first, last] = [points[0], points.at(-1)] as [Point, Point];
  return (last[1] - first[1]) / (last[0] - first[0]);
}
