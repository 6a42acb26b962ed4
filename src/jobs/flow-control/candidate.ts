/** A run that an event, an invocation or a schedule asks for, before flow control has decided about it. */

import type { Envelope } from '../../model/events/event.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import type { RunStatus } from '../../model/runs/run.ts';
import type { RunToStart } from './run-to-start.ts';

export interface Candidate extends RunToStart {
  event: Envelope;
  /** An invocation is for this run alone: it is neither batched nor debounced. */
  cause: 'event' | 'invocation' | 'schedule';
  /** The event was stored by an earlier try of the same job, which may have decided already. */
  repeated?: boolean;
  /** When the work on the event began, Unix milliseconds: another try may have decided since. */
  beganAt?: number;
  /** Status of the run, if the earlier try created it. */
  created?: RunStatus;
}

/** One kind of flow control, which acts before a run is created. Repeating it with the same candidates changes nothing. */
export interface FlowStage {
  appliesTo(options: FlowOptions, candidate: Candidate): boolean;
  apply(candidates: readonly Candidate[]): Promise<StageResult>;
  /** Whether it wants to see candidates that an earlier try created. To all other stages they are admitted. */
  readonly seesCreated?: true;
  /** Takes back what candidates got that it admitted and a later stage has not: another run is there in their place. */
  takeBack?(candidates: readonly Candidate[]): Promise<void>;
}

export interface StageResult {
  /** They go on to the next stage. */
  admitted: Candidate[];
  /** About all others. */
  decisions: Decision[];
}
