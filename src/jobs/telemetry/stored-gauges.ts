/** Gauges that every process reads from Redis when Prometheus scrapes it. */
import { setTimeout } from 'node:timers/promises';
import type { StoredGauges } from '../../metrics/gauges.ts';
import type { Redis } from '../../store/redis/connection/connection.ts';
import { readServerInfo } from '../../store/redis/connection/server-info.ts';
import type { Store } from '../../store/store.ts';
import type { PartitionQueues } from '../queues/partition-queues.ts';
import { queueStatuses } from '../queues/queue-status.ts';

/** How long a result is reused, so that any number of scrapes reads Redis once. */
const CACHE_MS = 1_000;
/** How long a scrape waits for Redis. */
const TIMEOUT_MS = 1_000;

interface StoredGaugesDeps
  extends Pick<
    Store,
    | 'activeRuns'
    | 'processes'
    | 'limitUsage'
    | 'archiveStatus'
    | 'outboxStatus'
    | 'offloadedRunAlarms'
    | 'pausedRuns'
    | 'appVersions'
    | 'environments'
  > {
  redis: Redis;
  functionLanes: { count(envs: readonly string[]): Promise<StoredGauges['lanes']> };
}

type Read = () => Promise<StoredGauges | undefined>;

/** @param hotMs age at which events are archived; undefined without an archive
 *  @returns a function that reads them; undefined: Redis is down, or does not answer in time */
export function storedGauges(deps: StoredGaugesDeps, queues: PartitionQueues, hotMs: number | undefined): Read {
  let last: { at: number; status: Promise<StoredGauges | undefined> } | undefined;
  let reading = false;

  return () => {
    // Otherwise commands would pile up until Redis is back.
    if (deps.redis.status !== 'ready') return Promise.resolve(undefined);
    const nowMs = performance.now();
    if (!last || (!reading && nowMs - last.at >= CACHE_MS)) last = { at: nowMs, status: startReading() };
    return Promise.race([last.status, setTimeout(TIMEOUT_MS, undefined, { ref: false })]);
  };

  async function startReading(): Promise<StoredGauges | undefined> {
    reading = true;
    try {
      return await read(deps, queues, hotMs, Date.now());
    } catch {
      return undefined;
    } finally {
      reading = false;
    }
  }
}

async function read(
  {
    redis,
    activeRuns,
    offloadedRunAlarms,
    pausedRuns,
    functionLanes,
    appVersions,
    environments,
    processes,
    limitUsage,
    archiveStatus,
    outboxStatus,
  }: StoredGaugesDeps,
  queues: PartitionQueues,
  hotMs: number | undefined,
  nowMs: number,
): Promise<StoredGauges> {
  const envs = environments.all().then((all) => all.map(({ name }) => name));
  const [
    { usedMemoryBytes, maxMemoryBytes, cluster },
    active,
    offloaded,
    paused,
    lanes,
    pinnedVersions,
    alive,
    statuses,
    backlogs,
    archiveLagMs,
    outbox,
  ] = await Promise.all([
    readServerInfo(redis),
    activeRuns.count(),
    offloadedRunAlarms.seen(),
    envs.then((names) => pausedRuns.count(names)),
    envs.then((names) => functionLanes.count(names)),
    envs.then((names) => appVersions.withPinnedRuns(names)),
    processes.alive(),
    queueStatuses(queues, nowMs),
    limitUsage.waitingCalls(),
    hotMs === undefined ? undefined : archiveStatus.behindMs(hotMs, nowMs),
    outboxStatus.read(),
  ]);
  const count = (kind: string) => alive.filter((process) => process.kind === kind).length;
  return {
    queues: statuses.map(({ oldestWaitingAt = nowMs, ...status }) => {
      return { ...status, backlogAgeMs: Math.max(0, nowMs - oldestWaitingAt) };
    }),
    activeRuns: active + offloaded.count,
    pausedRuns: paused,
    lanes,
    pinnedVersions,
    offloadedRuns:
      hotMs === undefined && offloaded.count === 0
        ? undefined
        : { count: offloaded.count, overdueMs: Math.max(0, nowMs - (offloaded.overdueSince ?? nowMs)) },
    backlogs,
    archiveLagMs,
    outbox: outbox && {
      ...outbox,
      isUp: outbox.problem === undefined,
      lagMs: Math.max(0, nowMs - (outbox.oldestAt ?? nowMs)),
    },
    processes: { web: count('web'), worker: count('worker') },
    // The fullest node limits the whole service.
    usedMemoryBytes: cluster?.fullest.usedMemoryBytes ?? usedMemoryBytes,
    maxMemoryBytes: cluster ? cluster.fullest.maxMemoryBytes : maxMemoryBytes,
    cluster: cluster && { ...cluster, usedMemoryBytes },
  };
}
