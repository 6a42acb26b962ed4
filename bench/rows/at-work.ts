/** The service at work: web, worker and Redis store every event while the load arrives. The reference, a bare Koa echo, has the machine
 *  to itself: the service has stored all its events and waits. Rates include the time until the last event is stored. */
import type { Benchmark, Measurement } from '../bench.ts';
import { CostMeter } from '../cost-meter.ts';
import { BATCH_SIZE, batchOf, eventOf, WEBHOOK_REQUEST } from '../payloads.ts';
import type { BenchProcess } from '../processes.ts';
import type { Cost, Measured } from '../results.ts';
import type { Row } from '../row.ts';
import { median, medians } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';
import { cpuSeconds } from '../usage.ts';

const ECHO = 'a bare Koa echo alone';
const SINGLES = 'single events';
const PRODUCTION = 'production mode';
const LEAST_CPU = 'CPU of the echo per request and of bare Redis pipelines per event';
const AT_WORK = 'worker at work';
const MAX_OF_LEAST_CPU = 1.9;
const DEV_MODE = `single events in dev mode, 32 connections, ${AT_WORK}`;
const US_PER_SECOND = 1e6;
const group = 'at-work';

const SINGLE_LOADS = [
  { connections: 32, share: 0.5, key: 'single-at-work' },
  { connections: 128, share: 0.75, key: undefined },
] as const;

export const atWork: Measurement = {
  group,
  names: [`single events, 32 connections, ${AT_WORK}`, `batches of 100, ${AT_WORK}`, `webhooks, ${AT_WORK}`, DEV_MODE],
  measure: (bench) => bench.withTestBed({}, (testBed) => rowsOn(testBed, bench)),
};

async function rowsOn(testBed: TestBed, { options: { rounds } }: Benchmark): Promise<Measured> {
  const echo = await testBed.startProcess('bench/references/echo.ts');
  const pipelines = await testBed.startProcess('bench/references/pipelines.ts', { REDIS_URL: `${testBed.redisUrl}/1` });
  const devEventUrl = await testBed.startDevWeb();
  await testBed.startWorker();
  const hook = await testBed.service.createWebhook();
  const { eventUrl } = testBed.service;
  const [single, batch, webhook] = [eventOf('bench/single'), batchOf('bench/batch'), WEBHOOK_REQUEST].map((content) =>
    testBed.bodyFile(content),
  ) as [string, string, string];
  const load = (url: string, body: string, connections: number, size?: number, meter?: CostMeter) =>
    loadAndStore(testBed, { url, body, connections, size }, meter);
  await load(eventUrl, single, 32);

  const rows: Row[] = [];
  const costs: Cost[] = [];
  for (const { connections, share, key } of SINGLE_LOADS) {
    const what = `single events, ${connections} connections, ${AT_WORK}`;
    const meter = new CostMeter(testBed);
    const [echoCpu, pipelinesCpu]: [number[], number[]] = [[], []];
    const reached = await medians(rounds, {
      own: () => load(eventUrl, single, connections, 1, meter),
      echo: () => loadEcho(testBed, echo, single, connections, echoCpu),
      pipelines: () => writePipelines(testBed, pipelines, pipelinesCpu),
    });
    const cost = meter.cost('single-at-work', `${what}, accepted and stored`);
    rows.push(
      {
        group,
        work: what,
        value: reached.own,
        unit: 'events/s',
        references: [{ what: ECHO, value: reached.echo }],
        targets: [{ share, of: ECHO }],
      },
      {
        group,
        work: `${what}: CPU of web, worker and Redis per event`,
        value: 1_000 * (cost.cpu.web + cost.cpu.worker + cost.cpu.redis),
        unit: 'µs',
        references: [{ what: LEAST_CPU, value: median(echoCpu) + median(pipelinesCpu) }],
        targets: [{ times: MAX_OF_LEAST_CPU, of: LEAST_CPU }],
      },
    );
    if (key) costs.push(cost);
  }

  const batches = await medians(rounds, {
    accepted: async () => BATCH_SIZE * (await testBed.loadTest(eventUrl, batch, 32)).perSecond,
    stored: async () => {
      await testBed.service.untilIngested();
      return load(eventUrl, batch, 32, BATCH_SIZE);
    },
  });
  rows.push(
    {
      group,
      work: `batches of 100, ${AT_WORK}: accepted`,
      value: batches.accepted,
      unit: 'events/s',
      references: [],
      targets: [{ least: 50_000 }],
    },
    {
      group,
      work: `batches of 100, ${AT_WORK}: accepted and stored`,
      value: batches.stored,
      unit: 'events/s',
      references: [],
      targets: [],
    },
  );

  const hooks = await medians(rounds, {
    own: () => load(hook, webhook, 32),
    singles: () => load(eventUrl, single, 32),
  });
  rows.push({
    group,
    work: `webhooks with a transform, 32 connections, ${AT_WORK}`,
    value: hooks.own,
    unit: 'events/s',
    references: [{ what: SINGLES, value: hooks.singles }],
    targets: [{ share: 0.5, of: SINGLES }],
  });

  // The code of the production process is hot since the first row.
  for (let round = 0; round < rounds; round++) await load(devEventUrl, single, 32);
  const modes = await medians(rounds, {
    dev: () => load(devEventUrl, single, 32),
    production: () => load(eventUrl, single, 32),
  });
  rows.push({
    group,
    work: DEV_MODE,
    value: modes.dev,
    unit: 'events/s',
    references: [{ what: PRODUCTION, value: modes.production }],
    targets: [{ share: 0.95, of: PRODUCTION }],
  });
  return { rows, costs, series: [] };
}

interface Load {
  url: string;
  body: string;
  connections: number;
  /** Events of a request. */
  size?: number | undefined;
}

/** @returns events per second, from the first request until the last event is stored */
async function loadAndStore(
  testBed: TestBed,
  { url, body, connections, size = 1 }: Load,
  meter?: CostMeter,
): Promise<number> {
  const work = async () => {
    const { requests, perSecond } = await testBed.loadTest(url, body, connections);
    const sentAt = performance.now();
    await testBed.service.untilIngested();
    const seconds = requests / perSecond + (performance.now() - sentAt) / 1_000;
    return { events: requests * size, seconds };
  };
  const { events, seconds } = await (meter ? meter.measure(work, (done) => done.events) : work());
  return events / seconds;
}

/** @param cpu gets the CPU time of a request, in microseconds
 *  @returns requests per second */
async function loadEcho(
  testBed: TestBed,
  { url, pid }: BenchProcess,
  body: string,
  connections: number,
  cpu: number[],
): Promise<number> {
  const before = cpuSeconds(pid);
  const { requests, perSecond } = await testBed.loadTest(url, body, connections);
  cpu.push((US_PER_SECOND * (cpuSeconds(pid) - before)) / requests);
  return perSecond;
}

/** What storing the same events takes at least.
 *  @param cpu gets the CPU time of an event in both processes, in microseconds
 *  @returns events per second */
async function writePipelines(testBed: TestBed, pipelines: BenchProcess, cpu: number[]): Promise<number> {
  const { seconds } = testBed.bench.options;
  const pids = [pipelines.pid, ...testBed.pids().flatMap(({ kind, pid }) => (kind === 'redis' ? [pid] : []))];
  const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = used();
  const perSecond = await pipelines.ask<number>(seconds);
  cpu.push((US_PER_SECOND * (used() - before)) / (perSecond * seconds));
  return perSecond;
}
