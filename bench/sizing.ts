/** How much of everything so many events a second take, from what one of each has cost. All rates are of one second, all costs CPU
 *  seconds: a rate times a cost is how many CPUs are busy. */
import type { Cost, PartKind, Results } from './results.ts';

/** Busier than that, queues form whenever events do not come evenly. */
export const BUSY = 0.7;
const DAY_SECONDS = 86_400;

/** How events come, and what each does. */
export interface Load {
  eventsPerSecond: number;
  /** Sent one in a request, or in batches of 100. */
  arrival: 'single' | 'batch' | 'webhook';
  runsPerEvent: number;
  /** Finished in each run, beside the call that ends it. */
  stepsPerRun: number;
}

export interface Size {
  /** CPUs that are busy. */
  busy: Record<PartKind, number>;
  /** One web or worker process uses one CPU at most, its transform child another. */
  webs: number;
  workers: number;
  /** One Redis does its commands one after the other, on one CPU; more of them are installations apart from each other. */
  installations: number;
  /** To and from Redis, bits a second. */
  networkBits: number;
}

/** @returns undefined when the results lack a cost that it takes */
export function sizeOf(load: Load, costs: readonly Cost[]): Size | undefined {
  const { eventsPerSecond, arrival, runsPerEvent, stepsPerRun } = load;
  const runs = eventsPerSecond * runsPerEvent;
  const amounts: [Cost['key'], perSecond: number][] = [
    [arrival, eventsPerSecond],
    ['ingest', eventsPerSecond],
    ['run', runs],
    ['step', runs * stepsPerRun],
  ];
  const parts = amounts
    .filter(([, perSecond]) => perSecond > 0)
    .map(([key, perSecond]) => ({ perSecond, cost: costs.find((one) => one.key === key) }));
  if (!parts.every((part): part is { perSecond: number; cost: Cost } => part.cost !== undefined)) return undefined;
  const sum = (of: (cost: Cost) => number) => parts.reduce((all, { perSecond, cost }) => all + perSecond * of(cost), 0);
  const busyOf = (kind: PartKind) => sum(({ cpu }) => cpu[kind]) / 1_000;
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
    installations: processesFor(busy.redis),
    networkBits: 8 * sum(({ redisInBytes, redisOutBytes }) => redisInBytes + redisOutBytes),
  };
}

/** Events a second at which one Redis is as busy as it should be. */
export function mostOfOneRedis(load: Load, costs: readonly Cost[]): number | undefined {
  const size = sizeOf(load, costs);
  return size && (load.eventsPerSecond * BUSY) / size.busy.redis;
}

/** Bytes of Redis's memory that events and runs take which come at that rate on average and stay for so long. */
export function storedBytes(load: Load, days: number, { event, run }: NonNullable<Results['bytes']>): number {
  return load.eventsPerSecond * days * DAY_SECONDS * (event.memory + load.runsPerEvent * run.memory);
}

function processesFor(busy: number): number {
  return Math.max(1, Math.ceil(busy / BUSY));
}
