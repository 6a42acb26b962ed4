/** Gauges: values read at each scrape instead of recorded when they change. */
import { sum } from '../model/values/sum.ts';
import type { FunctionBacklog, FunctionMetrics } from './functions.ts';
import type { GaugeMetric, MetricsRegistry } from './registry.ts';

/** Gauges from Redis, equal in every process. */
export interface StoredGauges {
  queues: readonly {
    name: string;
    waiting: number;
    active: number;
    delayed: number;
    failed: number;
    /** Age of the job that has waited longest; 0: no job waits. */
    backlogAgeMs: number;
  }[];
  /** Includes offloaded runs. */
  activeRuns: number;
  /** Active runs that wait until a user resumes them. */
  pausedRuns: number;
  /** Events that wait in lanes, and lanes that failed runs stop. */
  lanes: { waiting: number; stopped: number };
  /** Versions of apps on which active runs end, most runs first. */
  pinnedVersions: readonly { env: string; app: string; version: string; count: number }[];
  /** Sleeping runs that are in Postgres; undefined without an archive. */
  offloadedRuns: { count: number; overdueMs: number } | undefined;
  /** Functions' backlogs of calls that wait for limits. */
  backlogs: readonly FunctionBacklog[];
  processes: { web: number; worker: number };
  usedMemoryBytes: number;
  /** undefined if Redis has no memory limit. */
  maxMemoryBytes: number | undefined;
  /** undefined: one server. */
  cluster: { primaries: number; replicas: number; unservedHashSlots: number; usedMemoryBytes: number } | undefined;
  /** How long the oldest event that is due for the archive has waited; undefined without an archive. */
  archiveLagMs: number | undefined;
  /** The outbox of an app; undefined: there is none. */
  outbox:
    | { isUp: boolean; waiting: number; lagMs: number; refused: number; uncertain: number; bytes: number }
    | undefined;
}

export interface GaugeSources {
  /** Events that wait for a group commit of this process. */
  eventsUncommitted(): number;
  /** undefined: Redis is down or does not respond. */
  stored(): Promise<StoredGauges | undefined>;
  /** Whether Postgres responds; undefined without an archive, or before the first probe. */
  archiveUp(): boolean | undefined;
  /** Web only. */
  transforms?(): { threads: number; queued: number; inFlight: number };
  /** Web only: connections of apps to its gateway. */
  appConnections?(): number;
  /** Worker only: calls over connections that wait for their replies. */
  connectCalls?(): number;
  /** Worker only: calls waiting for capacity in this worker, calls deferred for lack of capacity, and throttled apps. */
  calls?(): { waiting: number; deferred: number; throttledApps: number };
  /** Worker only: how many jobs of each queue it runs at the same time. */
  concurrency?: Readonly<Record<string, number>>;
}

/** Maximum number of versions with a series of their own; the runs of the others have one together. */
const PINNED_SERIES_MAX = 100;

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** @returns a function that reads the sources into the gauges */
export function registerGauges(
  registry: MetricsRegistry,
  role: 'web' | 'worker',
  functions: FunctionMetrics,
): (sources: GaugeSources) => Promise<void> {
  const eventsUncommitted = registry.gauge(
    'events_uncommitted',
    'Events that wait for the start or the end of a group commit.',
  );
  const archiveUp = registry.gauge('archive_up', '1: Postgres responds to this process; 0: it does not.', 'min');
  const setStored = storedGauges(registry);
  const setOwn = role === 'web' ? transformGauges(registry) : workerGauges(registry);
  return async (sources) => {
    eventsUncommitted.set(sources.eventsUncommitted());
    const up = sources.archiveUp();
    if (up === undefined) archiveUp.remove();
    else archiveUp.set(up ? 1 : 0);
    setOwn(sources);
    const stored = await sources.stored();
    setStored(stored);
    functions.read(stored?.backlogs);
  };
}

function transformGauges(registry: MetricsRegistry): (sources: GaugeSources) => void {
  const threads = registry.gauge('transform_threads', 'Transforms that can run at the same time.');
  const queued = registry.gauge('transforms_queued', 'Requests that wait to be sent to a child process.');
  const inFlight = registry.gauge('transforms_in_flight', 'Requests that a child process has not returned yet.');
  const connections = registry.gauge('app_connections', 'Connections of apps to the gateway of this process.');
  return ({ transforms, appConnections }) => {
    connections.set(appConnections?.() ?? 0);
    const usage = transforms?.();
    if (!usage) return;
    threads.set(usage.threads);
    queued.set(usage.queued);
    inFlight.set(usage.inFlight);
  };
}

function workerGauges(registry: MetricsRegistry): (sources: GaugeSources) => void {
  const waiting = registry.gauge('function_calls_waiting', 'Calls that wait in this worker for capacity of their app.');
  const deferred = registry.gauge(
    'function_calls_deferred',
    'Calls that this worker put back into the queue until their app has capacity.',
  );
  const throttled = registry.gauge(
    'apps_throttled',
    'Apps to which this worker makes fewer concurrent calls because they are unhealthy.',
    'max',
  );
  const concurrency = registry.gaugesBy('job_concurrency', 'Jobs that this process runs at the same time at most.', [
    'queue',
  ]);
  const connectCalls = registry.gauge(
    'connect_calls_in_progress',
    'Calls over connections of apps whose replies this worker waits for.',
  );
  return ({ concurrency: limits = {}, calls, connectCalls: inProgress }) => {
    connectCalls.set(inProgress?.() ?? 0);
    const state = calls?.();
    if (state) {
      waiting.set(state.waiting);
      deferred.set(state.deferred);
      throttled.set(state.throttledApps);
    }
    for (const [queue, limit] of Object.entries(limits)) concurrency(queue).set(limit);
  };
}

/** Absent for a single Redis. */
function clusterGauges(registry: MetricsRegistry) {
  const memory = registry.gauge(
    'redis_cluster_used_memory_bytes',
    'Memory that all primaries of the cluster use.',
    'max',
  );
  const primaries = registry.gauge('redis_cluster_primaries', 'Primaries of the cluster that respond.', 'max');
  const replicas = registry.gauge('redis_cluster_replicas', 'Replicas of the cluster that respond.', 'max');
  const unserved = registry.gauge(
    'redis_cluster_hash_slots_not_served',
    'Hash slots of the cluster without a node.',
    'max',
  );
  return (cluster: NonNullable<StoredGauges['cluster']>): [GaugeMetric, number][] => [
    [memory, cluster.usedMemoryBytes],
    [primaries, cluster.primaries],
    [replicas, cluster.replicas],
    [unserved, cluster.unservedHashSlots],
  ];
}

/** Absent without an outbox. */
function outboxGauges(registry: MetricsRegistry) {
  const up = registry.gauge('outbox_up', '1: the outbox of the app could be counted; 0: it could not.', 'min');
  const lag = registry.gauge('outbox_lag_seconds', 'How long the oldest event of the outbox has waited.', 'max');
  const events = registry.gaugesBy('outbox_events', 'Events in the outbox of the app.', ['state'], 'max');
  const bytes = registry.gauge('outbox_bytes', 'Size of the outbox with its indexes.', 'max');
  return (outbox: NonNullable<StoredGauges['outbox']>): [GaugeMetric, number][] => [
    [up, outbox.isUp ? 1 : 0],
    [lag, outbox.lagMs / 1_000],
    [events('waiting'), outbox.waiting],
    [events('refused'), outbox.refused],
    [events('uncertain'), outbox.uncertain],
    [bytes, outbox.bytes],
  ];
}

function storedGauges(registry: MetricsRegistry): (status: StoredGauges | undefined) => void {
  const up = registry.gauge('redis_up', '1: Redis responds to this process; 0: it does not.', 'min');
  const used = registry.gauge(
    'redis_used_memory_bytes',
    'Memory that Redis uses; of a cluster, its fullest primary.',
    'max',
  );
  const max = registry.gauge('redis_max_memory_bytes', 'Memory limit of Redis; absent: no limit.', 'max');
  const cluster = clusterGauges(registry);
  const activeRuns = registry.gauge('runs_active', 'Runs that have not ended.', 'max');
  const pausedRuns = registry.gauge('runs_paused', 'Active runs that wait until somebody resumes them.', 'max');
  const laneEvents = registry.gauge('lane_events_waiting', 'Events that wait for their turn in a lane.', 'max');
  const stoppedLanes = registry.gauge('lanes_stopped', 'Lanes that a failed run stops.', 'max');
  const pinnedRuns = registry.gaugesBy(
    'runs_pinned',
    'Active runs that end on a version of an app.',
    ['environment', 'app', 'version'],
    'max',
  );
  const offloadedRuns = registry.gauge('runs_offloaded', 'Active runs that sleep in Postgres.', 'max');
  const overdue = registry.gauge(
    'runs_offloaded_overdue_seconds',
    'How long a run that sleeps in Postgres has been due to return to Redis.',
    'max',
  );
  const processes = registry.gaugesBy('processes', 'Running processes.', ['kind'], 'max');
  const jobs = registry.gaugesBy('queue_jobs', 'Jobs in a queue.', ['queue', 'state'], 'max');
  const ages = registry.gaugesBy(
    'queue_backlog_age_seconds',
    'Age of the job that has waited longest.',
    ['queue'],
    'max',
  );
  const archiveLag = registry.gauge(
    'archive_lag_seconds',
    'How long events have waited for the archive that are older than HOT_HOURS.',
    'max',
  );
  const outbox = outboxGauges(registry);
  let present = new Set<GaugeMetric>();
  // Value until Redis has responded.
  up.set(0);

  return (status) => {
    const previous = present;
    present = new Set();
    up.set(status ? 1 : 0);
    if (status) setAll(status);
    for (const gauge of previous) if (!present.has(gauge)) gauge.remove();
  };

  function setAll({ queues, usedMemoryBytes, maxMemoryBytes, ...status }: StoredGauges): void {
    if (status.cluster) for (const [gauge, value] of cluster(status.cluster)) set(gauge, value);
    set(used, usedMemoryBytes);
    if (maxMemoryBytes !== undefined) set(max, maxMemoryBytes);
    set(activeRuns, status.activeRuns);
    set(pausedRuns, status.pausedRuns);
    set(laneEvents, status.lanes.waiting);
    set(stoppedLanes, status.lanes.stopped);
    const [own, others] = [
      status.pinnedVersions.slice(0, PINNED_SERIES_MAX),
      status.pinnedVersions.slice(PINNED_SERIES_MAX),
    ];
    for (const { env, app, version, count } of own) set(pinnedRuns(env, app, version), count);
    if (others.length > 0)
      set(
        pinnedRuns('other', 'other', 'other'),
        sum(others, ({ count }) => count),
      );
    if (status.offloadedRuns) {
      set(offloadedRuns, status.offloadedRuns.count);
      set(overdue, status.offloadedRuns.overdueMs / 1_000);
    }
    if (status.archiveLagMs !== undefined) set(archiveLag, status.archiveLagMs / 1_000);
    if (status.outbox) for (const [gauge, value] of outbox(status.outbox)) set(gauge, value);
    for (const [kind, count] of Object.entries(status.processes)) set(processes(kind), count);
    for (const queue of queues) {
      for (const state of STATES) set(jobs(queue.name, state), queue[state]);
      set(ages(queue.name), queue.backlogAgeMs / 1_000);
    }
  }

  function set(gauge: GaugeMetric, value: number): void {
    present.add(gauge);
    gauge.set(value);
  }
}
