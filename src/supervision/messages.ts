/** IPC messages between a supervisor and its processes, in addition to `{ready: true}` (process.ts). */
import type { MetricsSnapshot } from '../metrics/registry.ts';

export type ToSupervisor =
  /** Requests the socket to listen on. */
  | { kind: 'socket?' }
  /** The process now answers requests for its metrics. */
  | { kind: 'metrics started' }
  | { kind: 'metrics'; request: number; metrics: MetricsSnapshot }
  /** Requests the group's metrics, because a scrape on web's main port reaches one of its processes. */
  | { kind: 'group metrics?'; request: number };

export type ToProcess =
  /** Sent together with the socket. */
  | { kind: 'socket' }
  /** Another process has taken over: shut down. */
  | { kind: 'replaced' }
  | { kind: 'metrics?'; request: number }
  | { kind: 'group metrics'; request: number; text: string };

/** Callback for `send`: the other side may be gone, and then needs no response. */
export function ignoreClosed(): void {}
