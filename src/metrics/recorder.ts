/** The interface through which the service records its metrics. Durations are milliseconds, as everywhere in the service; the
 *  implementations in this room convert them to seconds. Without metrics, everything is recorded to `NOOP_RECORDER`. */
import type { DecisionReason } from '../model/flow-control/decision.ts';
import type { Ending } from '../model/runs/run.ts';
import type { IssueKind } from '../model/webhooks/issue.ts';

/** `steps`: the function returned steps; `failed`: a retry may help; `failed_permanently`: the app asks for no retry; `no_response`: no
 *  response arrived in time. */
export const CALL_RESULTS = ['completed', 'steps', 'failed', 'failed_permanently', 'no_response'] as const;
export type CallResult = (typeof CALL_RESULTS)[number];

export const STOP_CAUSES = ['time', 'memory'] as const;
/** `crash`: it exited by itself; `killed`: something outside killed it; `recalled`: killed to get one transform out of it. */
export const EXIT_CAUSES = [...STOP_CAUSES, 'crash', 'killed', 'recalled', 'ended'] as const;

/** Why an expression was not evaluated to a result. */
export const SKIP_REASONS = ['too_costly', 'quarantined', 'refused'] as const;

export interface TransformRecorder {
  /** A transform ran to its end, successfully or with an error of its own. */
  transformCompleted(ms: number): void;
  transformStopped(cause: (typeof STOP_CAUSES)[number]): void;
  transformQuarantined(): void;
  transformProcessStarted(): void;
  transformProcessExited(cause: (typeof EXIT_CAUSES)[number]): void;
}

export interface JobRecorder {
  /** This process starts to take jobs from the queue. */
  registerQueue(queue: string): void;
  jobStarted(queue: string): void;
  jobFinished(queue: string, outcome: 'completed' | 'failed', ms: number): void;
  jobStalled(queue: string): void;
  ingestJobStarted(events: number): void;
  /** An ingest job that stalled repeatedly was split. */
  ingestJobSplit(): void;
  /** An event whose ingest job stalls even alone will not be retried. */
  eventDeadLettered(): void;
  expressionSkipped(reason: (typeof SKIP_REASONS)[number]): void;
}

export interface MetricsRecorder extends TransformRecorder, JobRecorder {
  /** An HTTP request was answered; `route` is its template, never its path. */
  httpRequest(method: string, route: string, status: number, ms: number): void;
  /** The response was an error. */
  httpError(route: string, code: string): void;
  /** The body of a request to `/e/` was read. */
  eventRequestReceived(bytes: number): void;
  eventsAcknowledged(ms: number): void;
  webhookRequest(outcome: string): void;
  /** The provider of a webhook request was checked. */
  webhookVerified(result: 'verified' | 'skipped' | 'failed'): void;
  /** An issue of a webhook was opened, or reopened. */
  webhookIssueOpened(kind: IssueKind): void;
  /** The ramp of a version of an app aborted itself. */
  rampAborted(): void;
  /** Redis has stored the events of a group commit. */
  eventsCommitted(events: readonly { repeat?: boolean }[], ms: number): void;
  commitFailed(): void;
  /** An event is completely ingested, this long after its receipt. */
  eventIngested(ageMs: number): void;
  duplicateIngested(): void;
  /** A run of a function with a throttle had to wait for its start. */
  startThrottled(env: string, functionId: string): void;
  /** A call of a function with flow control starts, or has ended. */
  callInFlight(env: string, functionId: string, by: 1 | -1): void;
  /** An event did not start a run of a function with a matching trigger, although its expression was met or was stopped. */
  runSkipped(env: string, functionId: string, reason: DecisionReason): void;
  runStarted(delayMs: number): void;
  runEnded(status: Ending['status']): void;
  functionCalled(result: CallResult, ms: number): void;
  /** A round of periodic work has ended (duties/duty.ts). */
  dutyRound(duty: string, outcome: 'completed' | 'failed', ms: number): void;
  /** The archive received this many events and runs. */
  archiveShipped(events: number, runs: number, ms: number): void;
  archiveShipmentFailed(): void;
}

const noop = () => {};

export const NOOP_RECORDER: MetricsRecorder = {
  transformCompleted: noop,
  transformStopped: noop,
  transformQuarantined: noop,
  transformProcessStarted: noop,
  transformProcessExited: noop,
  registerQueue: noop,
  jobStarted: noop,
  jobFinished: noop,
  jobStalled: noop,
  ingestJobStarted: noop,
  ingestJobSplit: noop,
  eventDeadLettered: noop,
  expressionSkipped: noop,
  httpRequest: noop,
  httpError: noop,
  eventRequestReceived: noop,
  eventsAcknowledged: noop,
  webhookRequest: noop,
  webhookVerified: noop,
  webhookIssueOpened: noop,
  rampAborted: noop,
  eventsCommitted: noop,
  commitFailed: noop,
  eventIngested: noop,
  duplicateIngested: noop,
  startThrottled: noop,
  callInFlight: noop,
  runSkipped: noop,
  runStarted: noop,
  runEnded: noop,
  functionCalled: noop,
  dutyRound: noop,
  archiveShipped: noop,
  archiveShipmentFailed: noop,
};
