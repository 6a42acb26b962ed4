/** Memory of the service's processes under a moderate mixed load of single events, webhooks, batches and runs. */
import type { Benchmark, Measurement } from '../bench.ts';
import { batchOf, eventOf, KIND, WEBHOOK_REQUEST } from '../payloads.ts';
import type { Measured, ProcessKind } from '../results.ts';
import type { Row } from '../row.ts';
import { between, max, type Point, slope } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';
import { residentBytes } from '../usage.ts';

const SAMPLE_MS = 5_000;
/** A short load is sampled more often. */
const MIN_SAMPLES = 24;
const CONNECTIONS = 32;
const MAX_MB = 200;
const IDLE = 'before the load';
/** Maximum growth in ten minutes, extrapolated from the second half; and maximum ratio of the last quarter's peak to the second's.
 *  A slow leak shows in the first, a leak in bursts in the second. */
const MAX_GROWTH_MB = 10;
const MAX_RATIO = 1.1;
const TEN_MINUTES = 600;
const NAMES = { web: 'web', worker: 'worker', transforms: 'transform child' } as const;
const WORK = 'memory under mixed load';
const group = 'soak';

export const soak: Measurement = {
  group,
  names: Object.values(NAMES).map((name) => `${name}, ${WORK}`),
  measure: (bench) => bench.withTestBed({}, (testBed) => rowsOn(testBed, bench)),
};

interface MemorySamples {
  kind: Exclude<ProcessKind, 'redis'>;
  pid: number;
  /** Megabytes before the load; undefined for a process that was started later. */
  idle: number | undefined;
  points: Point[];
}

async function rowsOn(testBed: TestBed, { options }: Benchmark): Promise<Measured> {
  const { eventUrl } = testBed.service;
  await testBed.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
  const hook = await testBed.service.createWebhook();
  await testBed.startWorker();
  const streams = [
    { url: eventUrl, body: JSON.stringify(eventOf('bench/single')), perSecond: 300 },
    { url: eventUrl, body: JSON.stringify(eventOf('bench/run')), perSecond: 200 },
    { url: eventUrl, body: JSON.stringify(batchOf('bench/batch')), perSecond: 10 },
    { url: hook, body: JSON.stringify(WEBHOOK_REQUEST), headers: KIND, perSecond: 100 },
  ];
  const seconds = 60 * options.soakMinutes;
  const seen: MemorySamples[] = testBed
    .pids()
    .flatMap(({ kind, pid }) => (kind === 'redis' ? [] : [{ kind, pid, idle: megabytes(pid), points: [] }]));
  const startedAt = performance.now();
  const sampling = setInterval(() => sample(testBed, seen, (performance.now() - startedAt) / 1_000), sampleMs(seconds));
  try {
    await testBed.sendAtRate({ streams, warmUpSeconds: 0, seconds, connections: CONNECTIONS });
    await testBed.service.untilDrained();
  } finally {
    clearInterval(sampling);
  }
  const lines = seen.map(({ kind, points, idle }, i) => {
    const earlier = seen.slice(0, i).filter((one) => one.kind === kind).length;
    return { name: earlier === 0 ? NAMES[kind] : `${NAMES[kind]} (${earlier + 1})`, points, idle };
  });
  return {
    rows: lines.flatMap(rowsOf),
    costs: [],
    series: [{ key: 'soak', unit: 'MB', lines: lines.map(({ name, points }) => ({ name, points })) }],
  };
}

function sampleMs(seconds: number): number {
  return Math.min(SAMPLE_MS, (1_000 * seconds) / MIN_SAMPLES);
}

/** A restarted process is sampled as a new one. */
function sample(testBed: TestBed, seen: MemorySamples[], at: number): void {
  for (const { kind, pid } of testBed.pids()) {
    const used = megabytes(pid);
    if (kind === 'redis' || used === 0) continue;
    let one = seen.find((other) => other.pid === pid);
    if (!one) {
      one = { kind, pid, idle: undefined, points: [] };
      seen.push(one);
    }
    one.points.push([at, used]);
  }
}

function megabytes(pid: number): number {
  return residentBytes(pid) / 1e6;
}

function rowsOf({ name, points, idle }: Pick<MemorySamples, 'points' | 'idle'> & { name: string }): Row[] {
  const work = `${name}, ${WORK}`;
  const growth = TEN_MINUTES * slope(between(points, 0.5, 1));
  const ratio = max(between(points, 0.75, 1)) / max(between(points, 0.25, 0.5));
  return [
    {
      group,
      work: `${work}, peak`,
      value: max(points),
      unit: 'MB',
      references: idle === undefined ? [] : [{ what: IDLE, value: idle }],
      targets: [{ most: MAX_MB }],
    },
    {
      group,
      work: `${work}, growth per ten minutes in the second half`,
      value: growth,
      unit: 'MB',
      references: [],
      targets: [{ most: MAX_GROWTH_MB }],
    },
    {
      group,
      work: `${work}, peak of the last quarter relative to the second`,
      value: 100 * ratio,
      unit: '%',
      references: [],
      targets: [{ most: 100 * MAX_RATIO }],
    },
  ];
}
