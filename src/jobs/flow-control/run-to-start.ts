/** A run before it is created. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { Pin } from '../../model/apps/versions.ts';
import type { Envelope } from '../../model/events/event.ts';
import type { FrozenKeys } from '../../model/flow-control/options.ts';
import type { Invoker } from '../../model/runs/run.ts';
import type { FromStep } from '../../model/runs/step-input.ts';

/** Fields of the triggering event that a run needs. */
export type CausingEvent = Pick<Envelope, 'env' | 'internalId' | 'requestId' | 'receivedAt'> &
  // Included for live updates, and for calls that start as their runs are created, if available.
  Partial<Pick<Envelope, 'name' | 'payload' | 'index'>>;

export interface RunToStart {
  id: string;
  fn: AppFunction;
  event: CausingEvent;
  /** The event's own time, Unix milliseconds: the run starts no earlier. */
  dueAt: number;
  invoker?: Invoker;
  /** The run of which this run is a re-run. */
  retryOf?: string;
  /** The version on which the run ends, if its function does not decide this. */
  pin?: Pin;
  replayId?: string;
  bulkActionId?: string;
  /** The step at which a re-run begins. */
  fromStep?: FromStep;
  /** The runs that its copied steps come from. */
  earlierRuns?: readonly string[];
  /** Values from the event that its limits need. */
  keys?: FrozenKeys;
  /** IDs of all events, if the run is for a batch. */
  batch?: readonly string[];
  /** Parent span of the run's jobs; absent: the active span. */
  trace?: string | undefined;
}
