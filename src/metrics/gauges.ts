/** What is not told as it happens, but read when somebody asks. */
import type { GaugeMetric, MetricsRegistry } from './registry.ts';

/** What Redis has to say, the same to every process that asks. */
export interface StoredGauges {
  queues: readonly {
    name: string;
    waiting: number;
    active: number;
    delayed: number;
    failed: number;
    /** Of the job that has waited longest; 0: none waits. */
    backlogAgeMs: number;
  }[];
  activeRuns: number;
  processes: { web: number; worker: number };
  usedMemoryBytes: number;
  /** undefined: as much as there is */
  maxMemoryBytes: number | undefined;
}

export interface GaugeSources {
  /** Events that wait for a group commit of this process. */
  eventsUnanswered(): number;
  /** undefined: Redis is not there, or silent. */
  stored(): Promise<StoredGauges | undefined>;
  /** Of a web process. */
  transforms?(): { threads: number; waiting: number; inFlight: number };
  /** Of a worker: calls that wait in it for room, that it has put back for want of room, and apps that it slows. */
  calls?(): { waiting: number; parked: number; slowedApps: number };
  /** Of a worker: jobs that it may be at, at once, by queue. */
  slots?: Readonly<Record<string, number>>;
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** @returns what reads the sources into their gauges */
export function sourceGauges(panel: MetricsRegistry, role: 'web' | 'worker'): (sources: GaugeSources) => Promise<void> {
  const eventsUnanswered = panel.gauge(
    'events_unanswered',
    'Events that wait for a group commit, or for the end of one.',
  );
  const showStored = storedGauges(panel);
  const showPool = role === 'web' ? transformGauges(panel) : slotGauges(panel);
  return async (sources) => {
    eventsUnanswered.set(sources.eventsUnanswered());
    showPool(sources);
    showStored(await sources.stored());
  };
}

function transformGauges(panel: MetricsRegistry): (sources: GaugeSources) => void {
  const threads = panel.gauge('transform_threads', 'Transforms that may run at once.');
  const waiting = panel.gauge('transforms_waiting', 'Requests that wait for their transform to be handed to a child.');
  const inFlight = panel.gauge('transforms_in_flight', 'Transforms handed to a child, which has not answered.');
  return ({ transforms }) => {
    const use = transforms?.();
    if (!use) return;
    threads.set(use.threads);
    waiting.set(use.waiting);
    inFlight.set(use.inFlight);
  };
}

function slotGauges(panel: MetricsRegistry): (sources: GaugeSources) => void {
  const waiting = panel.gauge('calls_waiting', 'Calls that wait in this worker until their app has room.');
  const parked = panel.gauge('calls_parked', 'Calls that this worker has put back until their app has room.');
  const slowed = panel.gauge(
    'apps_slowed',
    'Apps of which this worker makes fewer calls at once, because they are sick.',
  );
  const slots = panel.gaugesBy('job_slots', 'Jobs that this process may be at, at once.', ['queue']);
  return ({ slots: given = {}, calls }) => {
    const state = calls?.();
    if (state) {
      waiting.set(state.waiting);
      parked.set(state.parked);
      slowed.set(state.slowedApps);
    }
    for (const [queue, most] of Object.entries(given)) slots(queue).set(most);
  };
}

function storedGauges(panel: MetricsRegistry): (status: StoredGauges | undefined) => void {
  const up = panel.gauge('redis_up', '1: Redis answers this process; 0: it does not.');
  const used = panel.gauge('redis_used_memory_bytes', 'Memory that Redis uses.');
  const most = panel.gauge('redis_max_memory_bytes', 'Memory that Redis may use; absent: as much as there is.');
  const activeRuns = panel.gauge('runs_active', 'Runs that have not ended.');
  const processes = panel.gaugesBy('processes', 'Processes that are alive.', ['kind']);
  const jobs = panel.gaugesBy('queue_jobs', 'Jobs in a queue.', ['queue', 'state']);
  const ages = panel.gaugesBy('queue_backlog_age_seconds', 'Age of the job that has waited longest.', ['queue']);
  let shown = new Set<GaugeMetric>();
  // Until it has answered.
  up.set(0);

  return (status) => {
    const before = shown;
    shown = new Set();
    up.set(status ? 1 : 0);
    if (status) showAll(status);
    for (const gauge of before) if (!shown.has(gauge)) gauge.forget();
  };

  function showAll({ queues, usedMemoryBytes, maxMemoryBytes, ...status }: StoredGauges): void {
    show(used, usedMemoryBytes);
    if (maxMemoryBytes !== undefined) show(most, maxMemoryBytes);
    show(activeRuns, status.activeRuns);
    for (const [kind, count] of Object.entries(status.processes)) show(processes(kind), count);
    for (const queue of queues) {
      for (const state of STATES) show(jobs(queue.name, state), queue[state]);
      show(ages(queue.name), queue.backlogAgeMs / 1_000);
    }
  }

  function show(gauge: GaugeMetric, value: number): void {
    shown.add(gauge);
    gauge.set(value);
  }
}
