/** Dependencies and context of applying an operation. */

import type { Pending } from '../../../model/runs/memo.ts';
import type { Clock } from '../../../model/values/clock.ts';
import type { Checkpoints } from '../../../store/runs/checkpoints.ts';
import type { Defers } from '../../../store/runs/defers.ts';
import type { RunMetadata } from '../../../store/runs/run-metadata.ts';
import type { Loaded, Runs } from '../../../store/runs/runs.ts';
import type { SealedRequests } from '../../../store/runs/sealed-requests.ts';
import type { Signals } from '../../../store/runs/signals.ts';
import type { Steps } from '../../../store/runs/steps.ts';
import type { Waits } from '../../../store/runs/waits.ts';
import type { TracedRunRef } from '../../queues/queues.ts';
import type { Invocations } from '../invocations.ts';
import type { RunScheduler } from '../run-scheduler.ts';
import type { RunTransitions } from '../state-transitions.ts';
import type { WaitMatcher } from '../wait-matcher.ts';

export interface OperationDeps {
  transitions: RunTransitions;
  runs: Runs;
  steps: Steps;
  runMetadata: RunMetadata;
  checkpoints: Checkpoints;
  waits: Waits;
  signals: Signals;
  requests: SealedRequests;
  defers: Defers;
  waitMatcher: WaitMatcher;
  invocations: Invocations;
  scheduler: RunScheduler;
  clock: Clock;
}

/** A call and its context, after the app has answered. */
export interface AnsweredCall {
  loaded: Loaded & { event: NonNullable<Loaded['event']> };
  ref: TracedRunRef;
  /** Number of retries of a planned step. */
  retries: number;
  /** Whether another attempt of this call may follow. */
  mayRetry: boolean;
  startedAt: number;
  /** When its answer is applied. */
  nowMs: number;
  /** The app requests race mode for all steps of the response. */
  race: boolean;
  /** Group of the steps of the response that begin together (Pending). */
  group?: number;
  /** Steps that have already begun, and what beginning them returned. */
  begun?: ReadonlyMap<string, Pending | 'steps' | undefined>;
}
