/** What it costs to acknowledge only what is on disk: the rates of accepting, beside those of the default on a stage of its own. */
import type { Measure } from '../bench.ts';
import { BATCH_SIZE, batchOf, eventOf } from '../bodies.ts';
import { medians } from '../rounds.ts';
import type { Row } from '../row.ts';

const DEFAULT = 'the default';
const LOADS = [
  { work: 'single events, 32 connections', body: eventOf('bench/single'), connections: 32, size: 1 },
  { work: 'single events, 128 connections', body: eventOf('bench/single'), connections: 128, size: 1 },
  { work: 'batches of 100', body: batchOf('bench/batch'), connections: 32, size: BATCH_SIZE },
];
const workOf = (work: string) => `${work}, acknowledged on disk`;

export const fsync: Measure = {
  group: 'fsync',
  names: LOADS.map(({ work }) => workOf(work)),
  measure: (bench) =>
    bench.onStage({}, (usual) =>
      bench.onStage({ durability: 'fsync' }, async (durable) => {
        const rows: Row[] = [];
        for (const { work, body, connections, size } of LOADS) {
          const on = (stage: typeof usual) => async () => {
            const { perSecond } = await stage.load(stage.service.door, stage.body(body), connections);
            return size * perSecond;
          };
          const reached = await medians(bench.options.rounds, { own: on(durable), usual: on(usual) });
          rows.push({
            group: 'fsync',
            work: workOf(work),
            value: reached.own,
            unit: 'events/s',
            references: [{ what: DEFAULT, value: reached.usual }],
            targets: [],
          });
        }
        return { rows, costs: [], series: [] };
      }),
    ),
};
