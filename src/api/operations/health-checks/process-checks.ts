/** Health checks of the parts at work: processes, queues, runs, the archive. */
import type { ArchiveHealth } from '../../../jobs/archive/archive-health.ts';
import type { Backpressure } from '../../../jobs/queues/backpressure.ts';
import type { PartitionQueues } from '../../../jobs/queues/partition-queues.ts';
import { queueStatuses } from '../../../jobs/queues/queue-status.ts';
import { INGEST } from '../../../jobs/queues/queues.ts';
import type { Store } from '../../../store/store.ts';
import { type Finding, type HealthCheck, ok, orOk, problem, warning } from './check.ts';
import { SYNC_CLOCKS } from './redis-checks.ts';

const WAITING_WARNING_MS = 60_000;
const WAITING_PROBLEM_MS = 600_000;
/** A worker finishes such runs every few seconds. */
const STUCK_MS = 300_000;
const CLOCK_WARNING_MS = 5_000;
/** A process that sends heartbeats is always younger than this, by its own clock. */
const HEARTBEAT_MS = 10_000;
const NAMED_MAX = 10;

export interface ProcessCheckDeps extends Pick<Store, 'processes' | 'activeRuns' | 'offloadedRunAlarms'> {
  queues: PartitionQueues;
  backpressure: Backpressure;
  archiveHealth: ArchiveHealth;
}

export function processChecks(deps: ProcessCheckDeps): HealthCheck[] {
  const { processes, queues, backpressure, activeRuns, offloadedRunAlarms, archiveHealth } = deps;
  return [
    { id: 'processes', run: () => alive(processes) },
    { id: 'process_clocks', run: (nowMs) => clocks(processes, nowMs) },
    { id: 'apps', run: () => throttledApps(processes) },
    { id: 'backpressure', run: async () => rejecting(backpressure) },
    { id: 'queues', run: (nowMs) => backlog(queues, nowMs) },
    { id: 'runs', run: (nowMs) => stuckRuns(activeRuns, offloadedRunAlarms, nowMs) },
    { id: 'archive', run: (nowMs) => archive(archiveHealth, nowMs) },
  ];
}

async function alive(processes: Store['processes']): Promise<Finding[]> {
  const found = await processes.alive();
  const [webs, workers] = ['web', 'worker'].map((kind) => found.filter((process) => process.kind === kind).length);
  if (!workers) {
    const message = 'no worker is alive: events are accepted, and no function runs';
    return [problem(message, 'Start one: scripts/start worker. If it exits, its log says why.')];
  }
  return [ok(`${webs} web and ${workers} worker processes are alive`)];
}

async function clocks(processes: Store['processes'], nowMs: number): Promise<Finding[]> {
  const found = (await processes.alive()).flatMap(({ kind, host, pid, seenAt }) => {
    const aheadMs = seenAt - nowMs;
    if (aheadMs < CLOCK_WARNING_MS && aheadMs > -HEARTBEAT_MS - CLOCK_WARNING_MS) return [];
    const how = aheadMs > 0 ? 'ahead of' : 'behind';
    const seconds = Math.round(Math.abs(aheadMs) / 1_000);
    const message = `the clock of ${kind} ${pid} on ${host} is about ${seconds} s ${how} that of this process`;
    return [problem(message, SYNC_CLOCKS)];
  });
  return orOk(found, 'the clocks of web and worker agree');
}

/** Based on the workers' calls: probing each app would take longer, and reveal its URL to readers. */
async function throttledApps(processes: Store['processes']): Promise<Finding[]> {
  const apps = (await processes.alive()).flatMap(({ slowedApps = [] }) => slowedApps);
  const names = [...new Set(apps.map(({ env, app }) => `${app} (${env})`))];
  const found = names
    .slice(0, NAMED_MAX)
    .map((name) =>
      warning(
        `the app ${name} fails or times out, and gets fewer calls at a time`,
        'Check it: POST /v1/apps/:name/check, or Apps in the dashboard, says why it cannot be called.',
      ),
    );
  return orOk(found, 'no app is throttled because its calls fail');
}

function rejecting({ full, state }: Backpressure): Finding[] {
  if (!full) return [ok('events are accepted')];
  return state.reasons.map((reason) => {
    const colon = reason.lastIndexOf(': ');
    return problem(reason.slice(0, colon), `${capitalized(reason.slice(colon + 2))}.`);
  });
}

async function backlog(queues: PartitionQueues, nowMs: number): Promise<Finding[]> {
  const found = (await queueStatuses(queues, nowMs)).flatMap(({ name, waiting, failed, oldestWaitingAt }) => {
    const findings: Finding[] = [];
    const waitedMs = oldestWaitingAt === undefined ? 0 : nowMs - oldestWaitingAt;
    if (waitedMs > WAITING_WARNING_MS) {
      const message = `the oldest of ${waiting} jobs in the queue ${name} has waited for ${Math.round(waitedMs / 1_000)} s`;
      const remedy = 'Start more workers, raise RUN_CONCURRENCY, or make the apps faster; see docs/scaling.md.';
      findings.push((waitedMs > WAITING_PROBLEM_MS ? problem : warning)(message, remedy));
    }
    if (name === INGEST && failed > 0) {
      const message = `${failed} ingest jobs stopped their workers and wait for an operator`;
      findings.push(problem(message, 'Look at them in Bull Board (/queues, queue ingest, failed), and retry them.'));
    }
    return findings;
  });
  return orOk(found, 'no job waits for long');
}

async function stuckRuns(
  activeRuns: Store['activeRuns'],
  offloadedRunAlarms: Pick<Store['offloadedRunAlarms'], 'seen'>,
  nowMs: number,
): Promise<Finding[]> {
  const [hot, offloaded, overdue] = await Promise.all([
    activeRuns.count(),
    offloadedRunAlarms.seen(),
    activeRuns.count(nowMs - STUCK_MS),
  ]);
  const all = hot + offloaded.count;
  const { overdueSince = nowMs } = offloaded;
  if (overdueSince < nowMs - STUCK_MS) {
    const minutes = Math.round((nowMs - overdueSince) / 60_000);
    return [
      problem(
        `runs that sleep in Postgres should have returned ${minutes} min ago`,
        "They continue once Postgres responds. If it does, look in the workers' log for 'an offloaded run could not return'.",
      ),
    ];
  }
  if (overdue === 0) return [ok(`${all} runs are active, and none is stuck`)];
  return [
    problem(
      `${overdue} of ${all} active runs have made no progress, and no worker has reconciled them`,
      "Check that workers are alive, and look in their log for 'a run could not be reconciled'.",
    ),
  ];
}

async function archive(health: ArchiveHealth, nowMs: number): Promise<Finding[]> {
  const { state, behindMs = 0, roomMs, reason } = await health.state(nowMs);
  const room =
    roomMs === undefined ? '' : `; Redis has room for ${Math.round(roomMs / 60_000)} min at its present growth`;
  switch (state) {
    case 'off':
      return [ok('there is none (DATABASE_URL): Redis keeps everything')];
    case 'ok':
      return [ok('Postgres responds, and the archive is up to date')];
    case 'behind':
      return [
        warning(
          `events have waited ${Math.round(behindMs / 1_000)} s longer than HOT_HOURS for the archive${room}`,
          'Check that workers are alive, and the disk and load of Postgres.',
        ),
      ];
    case 'unavailable':
      return [
        problem(
          `Postgres does not respond (${reason ?? 'no reason'}): Redis keeps everything${room}`,
          'Start Postgres, and check DATABASE_URL; `scripts/start release` tells more.',
        ),
      ];
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
