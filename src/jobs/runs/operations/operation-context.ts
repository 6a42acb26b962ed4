/** Dependencies and context of applying an operation. */

import type { Pending } from '../../../model/runs/memo.ts';
import type { Clock } from '../../../model/values/clock.ts';
import type { Loaded } from '../../../store/runs/loaded-run.ts';
import type { Store } from '../../../store/store.ts';
import type { TracedRunRef } from '../../queues/queues.ts';
import type { RunScheduler } from '../scheduling/run-scheduler.ts';
import type { RunTransitions } from '../state-transitions.ts';
import type { Invocations } from '../steps/invocations.ts';
import type { WaitMatcher } from '../steps/wait-matcher.ts';

export interface OperationDeps
  extends Pick<Store, 'runs' | 'steps' | 'runMetadata' | 'checkpoints' | 'waits' | 'signals' | 'requests' | 'defers'> {
  transitions: RunTransitions;
  waitMatcher: WaitMatcher;
  invocations: Invocations;
  scheduler: RunScheduler;
  clock: Clock;
}

/** A call and its context, after the app has answered. */
export interface CallWithResponse {
  loaded: Loaded & { event: NonNullable<Loaded['event']> };
  ref: TracedRunRef;
  /** Number of retries of a planned step. */
  retries: number;
  /** Whether another attempt of this call may follow. */
  mayRetry: boolean;
  startedAt: number;
  /** The time at which the response is applied, Unix milliseconds. */
  nowMs: number;
  /** The app requests race mode for all steps of the response. */
  race: boolean;
  /** Group of the steps of the response that begin together (Pending). */
  group?: number;
  /** Steps that have already begun, with what `Steps.begin` returned for each. */
  begun?: ReadonlyMap<string, Pending | 'steps' | undefined>;
}
