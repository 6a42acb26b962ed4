/** What the work tells of itself as it goes, to be measured. Times are milliseconds, as everywhere in the service; the instruments make
 *  seconds of them. Where nobody has asked for metrics all of it is told to `SILENT`. */
import type { Ending } from '../model/runs/run.ts';

/** failed: another try may help; failed_for_good: the app says that none will; unanswered: no answer came, or none in time. */
export const CALL_RESULTS = ['completed', 'progress', 'failed', 'failed_for_good', 'unanswered'] as const;
export type CallResult = (typeof CALL_RESULTS)[number];

export const STOP_CAUSES = ['time', 'memory'] as const;
/** crash: it ended itself; killed: somebody else did; recalled: killed for the sake of one transform that was to leave it. */
export const DEATH_CAUSES = [...STOP_CAUSES, 'crash', 'killed', 'recalled', 'ended'] as const;

/** Why an expression did not judge an event. */
export const SKIP_REASONS = ['too_costly', 'quarantined', 'refused'] as const;

export interface TransformRecorder {
  /** A transform ran to its end, well or with an error of its own. */
  transformRan(ms: number): void;
  transformStopped(cause: (typeof STOP_CAUSES)[number]): void;
  transformQuarantined(): void;
  childForked(): void;
  childGone(cause: (typeof DEATH_CAUSES)[number]): void;
}

export interface JobRecorder {
  /** Jobs of this queue are taken up from now on. */
  queueOpened(queue: string): void;
  jobBegan(queue: string): void;
  jobEnded(queue: string, outcome: 'done' | 'failed', ms: number): void;
  jobStalled(queue: string): void;
  ingestBatch(events: number): void;
  /** An ingest job that stalled again and again was split in two. */
  ingestSplit(): void;
  /** An event whose ingestion stalls alone, too, is not tried again. */
  eventSetApart(): void;
  expressionSkipped(reason: (typeof SKIP_REASONS)[number]): void;
}

export interface MetricsRecorder extends TransformRecorder, JobRecorder {
  /** An HTTP request was answered; `route` is its template, never its path. */
  answered(method: string, route: string, status: number, ms: number): void;
  /** …with an error. */
  refused(route: string, code: string): void;
  /** The body of a request to `/e/` was read. */
  received(bytes: number): void;
  acknowledged(ms: number): void;
  webhookAnswered(outcome: string): void;
  /** Redis has the events of a group commit. */
  committed(events: readonly { repeat?: boolean }[], ms: number): void;
  commitFailed(): void;
  /** An event is wholly ingested, so long after its receipt. */
  ingested(ageMs: number): void;
  ingestedRepeat(): void;
  runStarted(delayMs: number): void;
  runEnded(status: Ending['status']): void;
  called(result: CallResult, ms: number): void;
}

const nothing = () => {};

export const NOOP_RECORDER: MetricsRecorder = {
  transformRan: nothing,
  transformStopped: nothing,
  transformQuarantined: nothing,
  childForked: nothing,
  childGone: nothing,
  queueOpened: nothing,
  jobBegan: nothing,
  jobEnded: nothing,
  jobStalled: nothing,
  ingestBatch: nothing,
  ingestSplit: nothing,
  eventSetApart: nothing,
  expressionSkipped: nothing,
  answered: nothing,
  refused: nothing,
  received: nothing,
  acknowledged: nothing,
  webhookAnswered: nothing,
  committed: nothing,
  commitFailed: nothing,
  ingested: nothing,
  ingestedRepeat: nothing,
  runStarted: nothing,
  runEnded: nothing,
  called: nothing,
};
