/** Accepting events, without a worker: single events and batches compared with a bare Koa echo and bare Redis pipelines of the same events;
 *  webhooks compared with single events and with the transform alone. */
import type { Benchmark, Measurement } from '../bench.ts';
import { CostMeter } from '../cost-meter.ts';
import { BATCH_SIZE, batchOf, eventOf, WEBHOOK_REQUEST } from '../payloads.ts';
import type { Measured } from '../results.ts';
import type { Row } from '../row.ts';
import { medians } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

const ECHO = 'a bare Koa echo';
const PIPELINES = 'bare Redis pipelines';
const SINGLES = 'single events';
const ISOLATE = 'the transform alone in one thread';
const TRANSFORM_SERVER = 'a bare Koa server with the transform in another process';
const group = 'requests';

export const requests: Measurement = {
  group,
  names: ['single events', 'batches of 100, accepted', 'webhooks with a transform'],
  measure: (bench) => bench.withTestBed({}, (testBed) => rowsOn(testBed, bench)),
};

async function rowsOn(testBed: TestBed, { options: { rounds, seconds } }: Benchmark): Promise<Measured> {
  const echo = await testBed.startProcess('bench/references/echo.ts');
  const pipelines = await testBed.startProcess('bench/references/pipelines.ts', { REDIS_URL: `${testBed.redisUrl}/1` });
  const isolate = await testBed.startProcess('bench/references/isolate.ts', {}, ['--no-node-snapshot']);
  const transformServer = await testBed.startProcess('bench/references/transform-server.ts');
  const hook = await testBed.service.createWebhook();
  const { eventUrl } = testBed.service;
  const [single, batch, webhook] = [eventOf('bench/single'), batchOf('bench/batch'), WEBHOOK_REQUEST].map((content) =>
    testBed.bodyFile(content),
  ) as [string, string, string];
  const [ofSingles, ofBatches, ofHooks] = [new CostMeter(testBed), new CostMeter(testBed), new CostMeter(testBed)];

  const perSecond = async (url: string, body: string, connections: number) =>
    (await testBed.loadTest(url, body, connections)).perSecond;
  /** The service itself, with its costs. */
  const own = async (meter: CostMeter, url: string, body: string, connections: number, size = 1) => {
    const load = () => testBed.loadTest(url, body, connections);
    return size * (await meter.measure(load, (loaded) => loaded.requests * size)).perSecond;
  };

  const rows: Row[] = [];
  for (const [connections, share] of [
    [32, 0.6],
    [128, 0.75],
  ] as const) {
    const meter = connections === 32 ? ofSingles : new CostMeter(testBed);
    const reached = await medians(rounds, {
      own: () => own(meter, eventUrl, single, connections),
      echo: () => perSecond(echo.url, single, connections),
    });
    rows.push({
      group,
      work: `single events, ${connections} connections`,
      value: reached.own,
      unit: 'events/s',
      references: [{ what: ECHO, value: reached.echo }],
      targets: [{ share, of: ECHO }],
    });
  }

  const batches = await medians(rounds, {
    own: () => own(ofBatches, eventUrl, batch, 32, BATCH_SIZE),
    echo: async () => BATCH_SIZE * (await perSecond(echo.url, batch, 32)),
    pipelines: () => pipelines.ask<number>(seconds),
  });
  rows.push({
    group,
    work: 'batches of 100, accepted',
    value: batches.own,
    unit: 'events/s',
    references: [
      { what: ECHO, value: batches.echo },
      { what: PIPELINES, value: batches.pipelines },
    ],
    targets: [{ least: 60_000 }],
  });

  const hooks = await medians(rounds, {
    own: () => own(ofHooks, hook, webhook, 32),
    singles: () => perSecond(eventUrl, single, 32),
    bare: () => perSecond(transformServer.url, webhook, 32),
    isolate: () => isolate.ask<number>(seconds),
  });
  rows.push({
    group,
    work: 'webhooks with a transform, 32 connections',
    value: hooks.own,
    unit: 'events/s',
    references: [
      { what: SINGLES, value: hooks.singles },
      { what: TRANSFORM_SERVER, value: hooks.bare },
      { what: ISOLATE, value: hooks.isolate },
    ],
    targets: [{ share: 0.48, of: SINGLES }],
  });
  const costs = [
    ofSingles.cost('single', 'single events, accepted'),
    ofBatches.cost('batch', 'events in batches of 100, accepted'),
    ofHooks.cost('webhook', 'webhook requests, transformed and accepted'),
  ];
  return { rows, costs, series: [] };
}
