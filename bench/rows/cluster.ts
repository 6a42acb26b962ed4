/** A Redis Cluster of three primaries beside one Redis: what events, runs and lists cost on it, and how evenly its nodes work. All nodes are on this
 *  machine, so the rows compare CPU time, not rates. */

import { type NodeUsage, usageBetween, usageOf } from '../../scripts/lib/cluster/usage.ts';
import type { Benchmark, Measurement } from '../bench.ts';
import { CostMeter } from '../cost-meter.ts';
import { countCalls } from '../count-calls.ts';
import { eventOf } from '../payloads.ts';
import type { Measured } from '../results.ts';
import type { Row, Target } from '../row.ts';
import { median, quantile } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

const ONE_REDIS = 'one Redis';
const REPLICATED = '32 partitions, a replica each';
const MEAN = 'the mean of the primaries';
const MAX_CPU = 1.25;
const MAX_SHARE = 1.25;
/** As of the archive's pages. A page asks an index of each partition, so its time grows with their number. */
const MAX_READ_MS = 50;
/** Per second of a round. */
const RUNS = 2_000;
const CONNECTIONS = 32;
const READS = 200;
const WARM_UPS = 20;
const LISTS = {
  'an event by its ID': '',
  'the first page of events': '/v1/events',
  'a page of the events of one name': '/v1/events?name=bench/run',
  'the first page of runs': '/v1/runs',
  "a page of one function's runs": '/v1/runs?function_id=bench-run',
} as const;
const group = 'cluster';

const KINDS = [
  {
    name: '8 partitions',
    cluster: { partitions: 8, replicas: 0 },
    isChecked: true,
    readTarget: false,
  },
  {
    name: '32 partitions',
    cluster: { partitions: 32, replicas: 0 },
    isChecked: true,
    readTarget: true,
  },
  // A replica does each write once more.
  { name: REPLICATED, cluster: { partitions: 32, replicas: 1 }, isChecked: false, readTarget: false },
] as const;
/** Events are acknowledged, and jobs end, when a replica and the disks of both have all that was written. */
const WITH_BARRIER = {
  name: `${REPLICATED}, fsync`,
  cluster: { partitions: 32, replicas: 1 },
  durability: 'fsync',
} as const;

/** Microseconds of CPU time for an event or a run. */
interface CpuParts {
  web: number;
  worker: number;
  /** All nodes. */
  redis: number;
}

interface Found {
  event: CpuParts;
  run: CpuParts;
  eventsPerSecond: number;
  runsPerSecond: number;
  /** Commands of the busiest primary, and of the mean. */
  busiest: number;
  mean: number;
  /** p50, milliseconds. */
  reads: Record<string, number>;
}

export const cluster: Measurement = {
  group,
  names: ['cluster: '],
  measure: async (bench) => {
    const found = new Map<string, Found[]>();
    for (let round = 1; round <= bench.options.rounds; round++) {
      bench.progress(`cluster, round ${round} of ${bench.options.rounds}`);
      for (const { name, ...options } of [{ name: ONE_REDIS }, ...KINDS, WITH_BARRIER]) {
        const one = await bench.withTestBed(options, (testBed) => measureOn(testBed, bench));
        found.set(name, [...(found.get(name) ?? []), one]);
      }
    }
    return { rows: rowsOf(found), costs: [], series: [] } satisfies Measured;
  },
};

async function measureOn(testBed: TestBed, { options: { seconds } }: Benchmark): Promise<Found> {
  const { service } = testBed;
  await service.register('bench', [{ id: 'run', event: 'bench/run' }]);
  await testBed.startWorker();
  const body = testBed.bodyFile(eventOf('bench/single'));
  const run = { name: 'bench/run', data: { total: 1 } };
  const runAll = async (count: number) => {
    await countCalls(testBed, count, () => service.sendMany(run, count));
    await service.untilDrained();
  };
  const send = async (forSeconds: number) => {
    const { requests } = await testBed.loadTest(service.eventUrl, body, CONNECTIONS, forSeconds);
    await service.untilIngested();
    return requests;
  };
  await send(1);
  await runAll(RUNS);
  const before = testBed.cluster && (await usageOf(testBed.cluster));
  const [ofEvents, ofRuns] = [new CostMeter(testBed), new CostMeter(testBed)];
  await ofEvents.measure(
    () => send(seconds),
    (requests) => requests,
  );
  await ofRuns.measure(
    () => runAll(RUNS * seconds),
    () => RUNS * seconds,
  );
  const used = testBed.cluster && before ? usageBetween(before, await usageOf(testBed.cluster)) : [];
  const commands = used.filter(({ isPrimary }) => isPrimary).map(({ commands }: NodeUsage) => commands);
  return {
    event: cpuOf(ofEvents),
    run: cpuOf(ofRuns),
    eventsPerSecond: ofEvents.cost('single', '').perSecond,
    runsPerSecond: ofRuns.cost('single', '').perSecond,
    busiest: Math.max(0, ...commands),
    mean: commands.reduce((all, one) => all + one, 0) / Math.max(1, commands.length),
    reads: await readTimes(testBed),
  };
}

function cpuOf(meter: CostMeter): CpuParts {
  const { web, worker, redis } = meter.cost('single', '').cpu;
  return { web: 1_000 * web, worker: 1_000 * worker, redis: 1_000 * redis };
}

const sumOf = ({ web, worker, redis }: CpuParts) => web + worker + redis;

async function readTimes({ service }: TestBed): Promise<Record<string, number>> {
  const ids = await service.someEventIds(READS + WARM_UPS);
  const times: Record<string, number> = {};
  for (const [what, path] of Object.entries(LISTS)) {
    const measured: number[] = [];
    for (let n = 0; n < READS + WARM_UPS; n++) {
      const startedAt = performance.now();
      await service.api(path || `/v1/events/${ids[n % ids.length]}`);
      if (n >= WARM_UPS) measured.push(performance.now() - startedAt);
    }
    times[what] = quantile(measured, 0.5);
  }
  return times;
}

function partsOf(
  of: (layout: string, value: (one: Found) => number) => number,
  layout: string,
  cpu: (one: Found) => CpuParts,
  suffix: string,
): Record<string, number> {
  const parts = ['web', 'worker', 'redis'] as const;
  return Object.fromEntries(parts.map((part) => [`${part}${suffix}`, of(layout, (one) => cpu(one)[part])]));
}

function rowsOf(found: ReadonlyMap<string, readonly Found[]>): Row[] {
  const of = (name: string, value: (one: Found) => number) => median((found.get(name) ?? []).map(value));
  const kinds = KINDS.flatMap(({ name, isChecked, readTarget }): Row[] => {
    const row = (what: string, unit: string, value: (one: Found) => number, targets: Target[]): Row => ({
      group,
      work: `cluster: ${what}, ${name}`,
      value: of(name, value),
      unit,
      references: [{ what: ONE_REDIS, value: of(ONE_REDIS, value) }],
      targets,
    });
    const cpuRow = (unit: string, cpu: (one: Found) => CpuParts, targets: Target[]): Row => ({
      ...row(`CPU of all processes per ${unit}`, 'µs', (one) => sumOf(cpu(one)), targets),
      parts: { ...partsOf(of, name, cpu, ''), ...partsOf(of, ONE_REDIS, cpu, ` with ${ONE_REDIS}`) },
    });
    const atMost = (times: number, of: string): Target[] => (isChecked ? [{ times, of }] : []);
    return [
      cpuRow('single event', (one) => one.event, atMost(MAX_CPU, ONE_REDIS)),
      cpuRow('plain run', (one) => one.run, atMost(MAX_CPU, ONE_REDIS)),
      {
        group,
        work: `cluster: commands of the busiest primary, ${name}`,
        value: of(name, ({ busiest }) => busiest),
        unit: 'commands',
        references: [{ what: MEAN, value: of(name, ({ mean }) => mean) }],
        targets: atMost(MAX_SHARE, MEAN),
      },
      ...Object.keys(LISTS).map((what) =>
        row(`read ${what}`, 'ms', (one) => one.reads[what] as number, readTarget ? [{ most: MAX_READ_MS }] : []),
      ),
    ];
  });
  const barrier = (what: string, unit: string, value: (one: Found) => number): Row => ({
    group,
    work: `cluster: ${what}, ${WITH_BARRIER.name}`,
    value: of(WITH_BARRIER.name, value),
    unit,
    references: [{ what: REPLICATED, value: of(REPLICATED, value) }],
    targets: [],
  });
  return [
    ...kinds,
    barrier('single events, 32 connections', 'events/s', (one) => one.eventsPerSecond),
    barrier('plain runs', 'runs/s', (one) => one.runsPerSecond),
    barrier('CPU of all processes per single event', 'µs', (one) => sumOf(one.event)),
    barrier('CPU of all processes per plain run', 'µs', (one) => sumOf(one.run)),
  ];
}
