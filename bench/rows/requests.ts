/** Events taken in, without a worker: single events and batches beside a bare Koa echo of the same bodies and bare pipelines of the same
 *  events, webhooks beside single events and their transform alone. */
import type { Bench, Measure } from '../bench.ts';
import { BATCH_SIZE, batchOf, eventOf, WEBHOOK_REQUEST } from '../bodies.ts';
import { Meter } from '../meter.ts';
import type { Found } from '../results.ts';
import { medians } from '../rounds.ts';
import type { Row } from '../row.ts';
import type { Stage } from '../stage.ts';

const ECHO = 'a bare Koa echo';
const PIPELINES = 'bare Redis pipelines';
const SINGLES = 'single events';
const ISOLATE = 'the transform alone in one thread';
const group = 'requests';

export const requests: Measure = {
  group,
  names: ['single events', 'batches of 100, accepted', 'webhooks with a transform'],
  measure: (bench) => bench.onStage({}, (stage) => rowsOn(stage, bench)),
};

async function rowsOn(stage: Stage, { options: { rounds, seconds } }: Bench): Promise<Found> {
  const echo = await stage.begin('bench/references/echo.ts');
  const pipelines = await stage.begin('bench/references/pipelines.ts', { REDIS_URL: `${stage.redisUrl}/1` });
  const isolate = await stage.begin('bench/references/isolate.ts', {}, ['--no-node-snapshot']);
  const hook = await stage.service.webhook();
  const { door } = stage.service;
  const [single, batch, webhook] = [eventOf('bench/single'), batchOf('bench/batch'), WEBHOOK_REQUEST].map((content) =>
    stage.body(content),
  ) as [string, string, string];
  const [ofSingles, ofBatches, ofHooks] = [new Meter(stage), new Meter(stage), new Meter(stage)];

  const perSecond = async (url: string, body: string, connections: number) =>
    (await stage.load(url, body, connections)).perSecond;
  /** Of the service, metered. */
  const own = async (meter: Meter, url: string, body: string, connections: number, size = 1) => {
    const load = () => stage.load(url, body, connections);
    return size * (await meter.over(load, (loaded) => loaded.requests * size)).perSecond;
  };

  const rows: Row[] = [];
  for (const [connections, share] of [
    [32, 0.6],
    [128, 0.75],
  ] as const) {
    const meter = connections === 32 ? ofSingles : new Meter(stage);
    const reached = await medians(rounds, {
      own: () => own(meter, door, single, connections),
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
    own: () => own(ofBatches, door, batch, 32, BATCH_SIZE),
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
    singles: () => perSecond(door, single, 32),
    isolate: () => isolate.ask<number>(seconds),
  });
  rows.push({
    group,
    work: 'webhooks with a transform, 32 connections',
    value: hooks.own,
    unit: 'events/s',
    references: [
      { what: SINGLES, value: hooks.singles },
      { what: ISOLATE, value: hooks.isolate },
    ],
    targets: [{ share: 0.6, of: SINGLES }],
  });
  const costs = [
    ofSingles.cost('single', 'single events, accepted'),
    ofBatches.cost('batch', 'events in batches of 100, accepted'),
    ofHooks.cost('webhook', 'webhook requests, transformed and accepted'),
  ];
  return { rows, costs, series: [] };
}
