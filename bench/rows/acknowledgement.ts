/** How long a sender waits for its answer when the service has half as much to do as it can do. */
import type { Measure } from '../bench.ts';
import { eventOf } from '../bodies.ts';
import { median } from '../numbers.ts';
import { medians } from '../rounds.ts';
import type { Row } from '../row.ts';
import type { Stage } from '../stage.ts';

const MOST_P99_MS = 25;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 128;
/** Rounds of the open loop are so many times as long as others: a hundredth of what comes in one makes a p99. */
const LENGTH = 2;
const WORK = 'acknowledgement at half the maximum rate';
const group = 'acknowledgement';

export const acknowledgement: Measure = {
  group,
  names: [WORK],
  measure: (bench) =>
    bench.onStage({}, async (stage) => {
      const perSecond = (await topRate(stage)) / 2;
      bench.tell(`${Math.round(perSecond)} events/s, sent at a pace`);
      const alone = await latencies(stage, perSecond);
      // What has been accepted so far is not what is measured.
      await stage.startWorker();
      await stage.service.ingested();
      const beside = await latencies(stage, perSecond);
      return {
        rows: [...rowsOf(WORK, alone, true), ...rowsOf(`${WORK}, with a worker on the same machine`, beside, false)],
        costs: [],
        series: [],
      };
    }),
};

/** Single events a second, the better of 32 and 128 connections. */
async function topRate(stage: Stage): Promise<number> {
  const body = stage.body(eventOf('bench/single'));
  const at = (connections: number) => async () => (await stage.load(stage.service.door, body, connections)).perSecond;
  const { few, many } = await medians(stage.bench.options.rounds, { few: at(32), many: at(128) });
  return Math.max(few, many);
}

interface Latencies {
  p50: number;
  p99: number;
  /** How late the sender itself was, at most: it is charged to the service. */
  latest: number;
}

async function latencies(stage: Stage, perSecond: number): Promise<Latencies> {
  const { rounds, seconds } = stage.bench.options;
  const body = JSON.stringify(eventOf('bench/single'));
  const order = {
    streams: [{ url: stage.service.door, body, perSecond }],
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: LENGTH * seconds,
    connections: CONNECTIONS,
  };
  const all: Latencies[] = [];
  for (let round = 0; round < rounds; round++) {
    const { p50Ms, p99Ms, latestMs } = await stage.paced(order);
    all.push({ p50: p50Ms, p99: p99Ms, latest: latestMs });
  }
  return {
    p50: median(all.map(({ p50 }) => p50)),
    p99: median(all.map(({ p99 }) => p99)),
    latest: Math.max(...all.map(({ latest }) => latest)),
  };
}

function rowsOf(work: string, { p50, p99, latest }: Latencies, isHeld: boolean): Row[] {
  const row = { group, unit: 'ms', references: [] } as const;
  return [
    { ...row, references: [], work: `${work}, p50`, value: p50, targets: [] },
    { ...row, references: [], work: `${work}, p99`, value: p99, targets: isHeld ? [{ most: MOST_P99_MS }] : [] },
    { ...row, references: [], work: `${work}, largest sender delay`, value: latest, targets: [] },
  ];
}
