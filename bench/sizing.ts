/** Capacity planning: how many processes a load needs, from the measured cost of each event, run and step. Rates are per second and costs
 *  are CPU seconds, so a rate times a cost is a number of busy CPUs. */
import type { Cost, ProcessKind, Results } from './results.ts';
import type { Row } from './row.ts';

/** Target utilization. Above it, bursts build up queues. */
export const BUSY = 0.7;
const DAY_SECONDS = 86_400;

/** A load: how events arrive, and what each causes. */
export interface Load {
  eventsPerSecond: number;
  /** One event a request, batches of 100, or webhooks. */
  source: 'single' | 'batch' | 'webhook';
  runsPerEvent: number;
  /** Without the call that ends the run. */
  stepsPerRun: number;
}

export interface Size {
  /** Busy CPUs. */
  busy: Record<ProcessKind, number>;
  /** A web or worker process uses at most one CPU; its transform child process uses another. */
  webs: number;
  workers: number;
  /** Redis executes commands on one CPU. A load above that needs a cluster of so many primaries. */
  primaries: number;
  /** A power of two, at least four for each primary of such a cluster, so that no primary has many more than another. */
  partitions: number;
  /** Bits per second to and from Redis. */
  networkBits: number;
}

/** The fewest primaries of a cluster. */
const PRIMARIES_MIN = 3;
const PARTITIONS_MIN = 32;
const PARTITIONS_OF_PRIMARY = 4;

/** How much more CPU time a unit takes on a cluster than on one Redis: the most that the results have for 32 partitions.
 *  @returns 1.25, the most that is allowed, where they have none */
export function clusterFactor(rows: readonly Row[]): number {
  const factors = rows
    .filter(({ work }) => /^cluster: CPU .*, 32 partitions$/.test(work))
    .map(({ value, references: [one] }) => value / (one?.value ?? value));
  return factors.length > 0 ? Math.max(1, ...factors) : 1.25;
}

/** @param factor of a cluster
 *  @returns undefined when the results lack a needed cost */
export function sizeOf(load: Load, costs: readonly Cost[], factor = 1): Size | undefined {
  const { eventsPerSecond, source, runsPerEvent, stepsPerRun } = load;
  const runs = eventsPerSecond * runsPerEvent;
  const amounts: [Cost['key'], perSecond: number][] = [
    [source, eventsPerSecond],
    ['ingest', eventsPerSecond],
    ['run', runs],
    ['step', runs * stepsPerRun],
  ];
  const parts = amounts
    .filter(([, perSecond]) => perSecond > 0)
    .map(([key, perSecond]) => ({ perSecond, cost: costs.find((one) => one.key === key) }));
  if (!parts.every((part): part is { perSecond: number; cost: Cost } => part.cost !== undefined)) return undefined;
  const sum = (of: (cost: Cost) => number) => parts.reduce((all, { perSecond, cost }) => all + perSecond * of(cost), 0);
  const busyOf = (kind: ProcessKind) => sum(({ cpu }) => cpu[kind]) / 1_000;
  const busy = {
    web: busyOf('web'),
    worker: busyOf('worker'),
    transforms: busyOf('transforms'),
    redis: busyOf('redis'),
  };
  return {
    busy,
    webs: processesFor(busy.web),
    workers: processesFor(busy.worker),
    ...clusterFor(busy.redis, factor),
    networkBits: 8 * sum(({ redisInBytes, redisOutBytes }) => redisInBytes + redisOutBytes),
  };
}

/** The events per second at which one Redis reaches the target utilization. */
export function maxRateOfOneRedis(load: Load, costs: readonly Cost[]): number | undefined {
  const size = sizeOf(load, costs);
  return size && (load.eventsPerSecond * BUSY) / size.busy.redis;
}

/** Bytes of Redis memory for events and runs at this average rate and retention. */
export function storedBytes(load: Load, days: number, { event, run }: NonNullable<Results['bytes']>): number {
  return load.eventsPerSecond * days * DAY_SECONDS * (event.memory + load.runsPerEvent * run.memory);
}

function clusterFor(busy: number, factor: number): { primaries: number; partitions: number } {
  if (busy <= BUSY) return { primaries: 1, partitions: 1 };
  const primaries = Math.max(PRIMARIES_MIN, processesFor(busy * factor));
  const partitions = Math.max(PARTITIONS_MIN, 2 ** Math.ceil(Math.log2(primaries * PARTITIONS_OF_PRIMARY)));
  return { primaries, partitions };
}

function processesFor(busy: number): number {
  return Math.max(1, Math.ceil(busy / BUSY));
}
