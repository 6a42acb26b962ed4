/** The cost of acknowledging events only when they are on disk, compared with the default on another test bed. */
import type { Measurement } from '../bench.ts';
import { BATCH_SIZE, batchOf, eventOf } from '../payloads.ts';
import type { Row } from '../row.ts';
import { medians } from '../statistics.ts';

const DEFAULT = 'the default';
const LOADS = [
  { work: 'single events, 32 connections', body: eventOf('bench/single'), connections: 32, size: 1 },
  { work: 'single events, 128 connections', body: eventOf('bench/single'), connections: 128, size: 1 },
  { work: 'batches of 100', body: batchOf('bench/batch'), connections: 32, size: BATCH_SIZE },
];
const workOf = (work: string) => `${work}, acknowledged on disk`;

export const fsync: Measurement = {
  group: 'fsync',
  names: LOADS.map(({ work }) => workOf(work)),
  measure: (bench) =>
    bench.withTestBed({}, (usual) =>
      bench.withTestBed({ durability: 'fsync' }, async (durable) => {
        const rows: Row[] = [];
        for (const { work, body, connections, size } of LOADS) {
          const on = (testBed: typeof usual) => async () => {
            const { perSecond } = await testBed.loadTest(testBed.service.eventUrl, testBed.bodyFile(body), connections);
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
