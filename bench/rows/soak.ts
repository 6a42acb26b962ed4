/** Memory of the service's processes while single events, webhooks, batches and runs come at a moderate pace. */
import type { Bench, Measure } from '../bench.ts';
import { batchOf, eventOf, KIND, WEBHOOK_REQUEST } from '../bodies.ts';
import { between, highest, type Point, slope } from '../numbers.ts';
import type { Found, PartKind } from '../results.ts';
import type { Row } from '../row.ts';
import type { Stage } from '../stage.ts';
import { residentBytes } from '../usage.ts';

const SAMPLE_MS = 5_000;
/** Of a load that is too short for that, so many at least. */
const LEAST_SAMPLES = 24;
const CONNECTIONS = 32;
const MOST_MB = 200;
/** What a process may grow in ten minutes, as its second half goes on; and its last quarter's highest beside its second's. Both, because
 *  a leak shows in the one or the other: slowly, or in bursts. */
const MOST_GROWTH_MB = 10;
const MOST_RATIO = 1.1;
const TEN_MINUTES = 600;
const NAMES = { web: 'web', worker: 'worker', transforms: 'transform child' } as const;
const WORK = 'memory under mixed load';
const group = 'soak';

export const soak: Measure = {
  group,
  names: Object.values(NAMES).map((name) => `${name}, ${WORK}`),
  measure: (bench) => bench.onStage({}, (stage) => rowsOn(stage, bench)),
};

interface Watched {
  kind: Exclude<PartKind, 'redis'>;
  pid: number;
  points: Point[];
}

async function rowsOn(stage: Stage, { options }: Bench): Promise<Found> {
  const { door } = stage.service;
  await stage.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
  const hook = await stage.service.webhook();
  await stage.startWorker();
  const streams = [
    { url: door, body: JSON.stringify(eventOf('bench/single')), perSecond: 300 },
    { url: door, body: JSON.stringify(eventOf('bench/run')), perSecond: 200 },
    { url: door, body: JSON.stringify(batchOf('bench/batch')), perSecond: 10 },
    { url: hook, body: JSON.stringify(WEBHOOK_REQUEST), headers: KIND, perSecond: 100 },
  ];
  const seconds = 60 * options.soakMinutes;
  const seen: Watched[] = [];
  const startedAt = performance.now();
  const sampling = setInterval(() => sample(stage, seen, (performance.now() - startedAt) / 1_000), sampleMs(seconds));
  try {
    await stage.paced({ streams, warmUpSeconds: 0, seconds, connections: CONNECTIONS });
    await stage.service.drained();
  } finally {
    clearInterval(sampling);
  }
  const lines = seen.map(({ kind, points }, i) => {
    const earlier = seen.slice(0, i).filter((one) => one.kind === kind).length;
    return { name: earlier === 0 ? NAMES[kind] : `${NAMES[kind]} (${earlier + 1})`, points };
  });
  return {
    rows: lines.flatMap(({ name, points }) => rowsOf(name, points)),
    costs: [],
    series: [{ key: 'soak', unit: 'MB', lines }],
  };
}

function sampleMs(seconds: number): number {
  return Math.min(SAMPLE_MS, (1_000 * seconds) / LEAST_SAMPLES);
}

/** A process that is started anew is watched as another: its life is a new one. */
function sample(stage: Stage, seen: Watched[], at: number): void {
  for (const { kind, pid } of stage.pids()) {
    const bytes = residentBytes(pid);
    if (kind === 'redis' || bytes === 0) continue;
    const one = seen.find((other) => other.pid === pid) ?? { kind, pid, points: [] };
    if (one.points.length === 0) seen.push(one);
    one.points.push([at, bytes / 1e6]);
  }
}

function rowsOf(name: string, points: readonly Point[]): Row[] {
  const work = `${name}, ${WORK}`;
  const growth = TEN_MINUTES * slope(between(points, 0.5, 1));
  const ratio = highest(between(points, 0.75, 1)) / highest(between(points, 0.25, 0.5));
  return [
    {
      group,
      work: `${work}, peak`,
      value: highest(points),
      unit: 'MB',
      references: [],
      targets: [{ most: MOST_MB }],
    },
    {
      group,
      work: `${work}, growth per ten minutes in the second half`,
      value: growth,
      unit: 'MB',
      references: [],
      targets: [{ most: MOST_GROWTH_MB }],
    },
    {
      group,
      work: `${work}, peak of the last quarter relative to the second`,
      value: 100 * ratio,
      unit: '%',
      references: [],
      targets: [{ most: 100 * MOST_RATIO }],
    },
  ];
}
