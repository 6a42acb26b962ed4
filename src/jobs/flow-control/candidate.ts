/** A run that an event, an invocation or a schedule asks for, before flow control has decided about it. */

import type { Envelope } from '../../model/events/event.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import type { RunToStart } from '../runs/run-to-start.ts';

export interface Candidate extends RunToStart {
  event: Envelope;
  /** An invocation is for this run alone: it is neither batched nor debounced. */
  cause: 'event' | 'invocation' | 'schedule';
  /** The event was stored by an earlier try of the same job, which may have decided already. */
  repeated?: boolean;
}

/** One kind of flow control, which acts before a run is created. Repeating it with the same candidates changes nothing. */
export interface FlowStage {
  appliesTo(options: FlowOptions, candidate: Candidate): boolean;
  apply(candidates: readonly Candidate[]): Promise<StageResult>;
}

export interface StageResult {
  /** They go on to the next stage. */
  admitted: Candidate[];
  /** About all others. */
  decisions: Decision[];
}
