/** What a supervisor and its processes send each other over IPC, besides `{ready: true}` (process.ts). */
import type { MetricsSnapshot } from '../metrics/registry.ts';

export type ToSupervisor =
  /** Asks for the socket to listen on. */
  | { kind: 'socket?' }
  /** From now on it answers requests for its metrics. */
  | { kind: 'metrics started' }
  | { kind: 'metrics'; request: number; metrics: MetricsSnapshot }
  /** Asks for the metrics of the group: a scrape on web's main port reaches one process of it. */
  | { kind: 'group metrics?'; request: number };

export type ToProcess =
  /** Comes with the socket. */
  | { kind: 'socket' }
  /** Another process has taken over: shut down. */
  | { kind: 'replaced' }
  | { kind: 'metrics?'; request: number }
  | { kind: 'group metrics'; request: number; text: string };

/** For `send`: the other side may be gone, and then needs no answer. */
export function ignoreClosed(): void {}
