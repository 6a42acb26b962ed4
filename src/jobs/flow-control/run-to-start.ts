/** A run before it is created. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { Envelope } from '../../model/events/event.ts';
import type { FrozenKeys } from '../../model/flow-control/options.ts';
import type { Invoker } from '../../model/runs/run.ts';
import type { FromStep } from '../../model/runs/step-input.ts';

/** The fields that a run needs of the event that triggered it. */
export type CausingEvent = Pick<Envelope, 'env' | 'internalId' | 'requestId' | 'receivedAt'> &
  // For live updates, where they are at hand.
  Partial<Pick<Envelope, 'name' | 'payload'>>;

export interface RunToStart {
  id: string;
  fn: AppFunction;
  event: CausingEvent;
  /** The event's own time, Unix milliseconds: the run starts no sooner. */
  dueAt: number;
  invoker?: Invoker;
  /** The run that this one re-runs. */
  retryOf?: string;
  /** The replay that starts it. */
  replayId?: string;
  /** Where a re-run begins. */
  fromStep?: FromStep;
  /** The runs whose steps it has. */
  earlierRuns?: readonly string[];
  /** What its limits need of the event. */
  keys?: FrozenKeys;
  /** IDs of all events, of a run of a batch. */
  batch?: readonly string[];
  /** Parent span of the run's jobs; none: the active span. */
  trace?: string | undefined;
}
