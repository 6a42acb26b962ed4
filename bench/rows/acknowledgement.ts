/** Latency of accepting events at half the maximum rate. */
import type { Measurement } from '../bench.ts';
import { eventOf } from '../payloads.ts';
import type { Row } from '../row.ts';
import { median, medians } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

const MAX_P99_MS = 25;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 128;
/** Rounds of the open loop are so many times as long as others: a hundredth of what comes in one makes a p99. */
const ROUND_FACTOR = 2;
const WORK = 'acknowledgement at half the maximum rate';
const group = 'acknowledgement';

export const acknowledgement: Measurement = {
  group,
  names: [WORK],
  measure: (bench) =>
    bench.withTestBed({}, async (testBed) => {
      const perSecond = (await topRate(testBed)) / 2;
      bench.progress(`${Math.round(perSecond)} events/s, sent at a fixed rate`);
      const alone = await latencies(testBed, perSecond);
      // Ingest the events of the first half before measuring again.
      await testBed.startWorker();
      await testBed.service.untilIngested();
      const beside = await latencies(testBed, perSecond);
      return {
        rows: [...rowsOf(WORK, alone, true), ...rowsOf(`${WORK}, with a worker on the same machine`, beside, false)],
        costs: [],
        series: [],
      };
    }),
};

/** Single events per second, the better of 32 and 128 connections. */
async function topRate(testBed: TestBed): Promise<number> {
  const body = testBed.bodyFile(eventOf('bench/single'));
  const at = (connections: number) => async () =>
    (await testBed.loadTest(testBed.service.eventUrl, body, connections)).perSecond;
  const { few, many } = await medians(testBed.bench.options.rounds, { few: at(32), many: at(128) });
  return Math.max(few, many);
}

interface Latencies {
  p50: number;
  p99: number;
  /** The longest delay in the sender itself; it is part of the latency. */
  latest: number;
}

async function latencies(testBed: TestBed, perSecond: number): Promise<Latencies> {
  const { rounds, seconds } = testBed.bench.options;
  const body = JSON.stringify(eventOf('bench/single'));
  const order = {
    streams: [{ url: testBed.service.eventUrl, body, perSecond }],
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: ROUND_FACTOR * seconds,
    connections: CONNECTIONS,
  };
  const all: Latencies[] = [];
  for (let round = 0; round < rounds; round++) {
    const { p50Ms, p99Ms, latestMs } = await testBed.sendAtRate(order);
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
    { ...row, references: [], work: `${work}, p99`, value: p99, targets: isHeld ? [{ most: MAX_P99_MS }] : [] },
    { ...row, references: [], work: `${work}, largest sender delay`, value: latest, targets: [] },
  ];
}
