/** A run requested by an event, an invocation or a schedule, before flow control has decided about it. */
import type { Envelope } from '../../model/events/event.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import type { RunStatus } from '../../model/runs/run.ts';
import type { RunToStart } from './run-to-start.ts';

export interface RunProposal extends RunToStart {
  event: Envelope;
  /** An invocation is for this run only: it is neither batched nor debounced. */
  cause: 'event' | 'invocation' | 'schedule';
  /** An earlier try of the same job stored the event, and may have decided already. */
  repeated?: boolean;
  /** When processing of the event began, Unix milliseconds: another try may have decided since. */
  beganAt?: number;
  created?: RunStatus;
}

/** One kind of flow control that acts before a run is created. Idempotent for the same proposals. */
export interface FlowStage {
  appliesTo(options: FlowOptions, proposal: RunProposal): boolean;
  apply(proposals: readonly RunProposal[]): Promise<StageResult>;
  /** Whether it gets proposals that an earlier try created. All other stages treat these as admitted. */
  readonly seesCreated?: true;
  /** Undoes the effects of admitting proposals that a later stage rejected in favor of another run. */
  takeBack?(proposals: readonly RunProposal[]): Promise<void>;
}

export interface StageResult {
  /** Passed to the next stage. */
  admitted: RunProposal[];
  /** Decisions about all other proposals. */
  decisions: Decision[];
}
