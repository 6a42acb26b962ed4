/** Duties that report the state and the counts of a process. */
import { hostname } from 'node:os';
import { type Duty, duty } from '../../duties/duty.ts';
import { machineTime } from '../../model/values/clock.ts';
import { HEARTBEAT_MS, type Processes, type ProcessKind, type ProcessStatus } from '../../store/telemetry/processes.ts';
import type { Telemetry } from './telemetry.ts';

/** Short, because shutdown must not depend on Redis. */
const LAST_FLUSH_MS = 2_000;

export interface TelemetryDutyDeps {
  telemetry: Telemetry;
  processes: Processes;
  processId: string;
  kind: ProcessKind;
  /** Additional facts for the heartbeat. */
  status: () => Pick<ProcessStatus, 'slowedApps' | 'runConcurrency'>;
}

const heartbeat = duty<TelemetryDutyDeps>({
  name: 'heartbeat',
  about: 'Tells the other processes how this one is',
  scope: 'process',
  everyMs: HEARTBEAT_MS,
  lastRoundMs: LAST_FLUSH_MS,
  rounds({ processes, processId: id, kind, status }) {
    const self = { id, kind, host: hostname(), pid: process.pid, startedAt: machineTime() };
    return () =>
      processes.beat({ ...self, seenAt: machineTime(), memoryBytes: process.memoryUsage.rss(), ...status() });
  },
  end: ({ processes, processId }) => processes.leave(processId),
});

const counters = duty<TelemetryDutyDeps>({
  name: 'counters',
  about: 'Adds the counts of the process to Redis',
  scope: 'process',
  everyMs: 1_000,
  lastRoundMs: LAST_FLUSH_MS,
  rounds:
    ({ telemetry }) =>
    () =>
      telemetry.flush(Date.now()),
  end: ({ telemetry }) => telemetry.flushAll(Date.now()),
});

const functionCounters = duty<TelemetryDutyDeps>({
  name: 'function-counters',
  about: 'The same for functions and steps',
  scope: 'process',
  everyMs: 5_000,
  lastRoundMs: LAST_FLUSH_MS,
  rounds:
    ({ telemetry }) =>
    () =>
      telemetry.flushFunctions(Date.now()),
});

export const TELEMETRY_DUTIES: readonly Duty<TelemetryDutyDeps>[] = [heartbeat, counters, functionCounters];
