/** The outcome of a call, as data: each outcome leads to one of a few decisions, and each decision is a list of writes in order
 *  (call-writes.ts). A process may die after any of them. Another one then repeats the job and decides again, so every write can be
 *  repeated, and the write that makes the outcome final comes last. test/runs/call-crashes.test.ts dies before each command of each
 *  decision. */
import { type Failure, type Outcome, retriableFailure } from '../../../functions/interpret-response.ts';
import { MAX_STEP_BYTES } from '../../../model/runs/memo.ts';
import { isReturned, type Op } from '../../../model/runs/operation.ts';
import type { PauseReason } from '../../../model/runs/pause.ts';
import { memoProblemOf } from '../operations/finished-steps.ts';
import { type CallAttempt, mayRetry } from './call-attempt.ts';

type Completed = Extract<Outcome, { kind: 'completed' }>;
type Steps = Extract<Outcome, { kind: 'steps' }>;

export type Decision =
  | { kind: 'completed' | 'completedWithSteps' | 'completedWithOperations'; outcome: Completed }
  | { kind: 'step' | 'sleep' | 'steps' | 'failedStep' | 'noNewStep'; outcome: Steps }
  | { kind: 'failed'; outcome: Failure };

export const WRITES_OF = {
  completed: ['end'],
  /** The response also reports finished steps, and nothing else: they are stored with the end. */
  completedWithSteps: ['end'],
  completedWithOperations: ['history', 'reportedSteps', 'end'],
  /** One step is finished, and nothing else. */
  step: ['finishedStep'],
  /** A sleep begins, and nothing else. */
  sleep: ['begunSleep'],
  /** Steps are finished, planned or begun. */
  steps: ['history', 'operations', 'answered'],
  /** A step has failed. Whether it is retried depends on the number of attempts, so only the last execution of the job counts. */
  failedStep: ['ownership', 'history', 'operations', 'answered'],
  /** The call stored its steps while in flight, and then ended because its time was up. */
  noNewStep: ['history', 'nextCall', 'answered'],
  /** Followed by the writes of the failure (WRITES_OF_FAILURE). */
  failed: ['ownership', 'history', 'reportedSteps'],
} as const satisfies Record<Decision['kind'], readonly string[]>;

export type Write = (typeof WRITES_OF)[Decision['kind']][number];

/** Writes of a failed attempt. */
export const WRITES_OF_FAILURE = {
  /** BullMQ repeats the job. */
  retriedByJob: ['error'],
  /** Another call continues with the steps that this one stored. */
  retriedFromCheckpoint: ['error', 'nextAttempt'],
  /** No attempt is left, or the version of the app is gone, and the run waits until somebody resumes it. */
  paused: ['pause'],
  /** The event about the failure comes before the end of the run. */
  final: ['failedEnd'],
} as const satisfies Record<string, readonly string[]>;

export type FailureDecision = keyof typeof WRITES_OF_FAILURE;
export type FailureWrite = (typeof WRITES_OF_FAILURE)[FailureDecision][number];

export function decide(outcome: Outcome, attempt: CallAttempt): Decision {
  switch (outcome.kind) {
    case 'failed':
      return { kind: 'failed', outcome };
    case 'steps':
      return { kind: kindOfSteps(outcome, attempt), outcome };
    case 'completed': {
      const failure = tooLarge(outcome);
      if (failure) return { kind: 'failed', outcome: { ...failure, ...(outcome.ops && { ops: outcome.ops }) } };
      return { kind: kindOfCompleted(outcome), outcome };
    }
  }
}

export function decideFailure(failure: Failure, attempt: CallAttempt): FailureDecision {
  if (!failure.retriable || !mayRetry(attempt)) return pauseReasonOf(failure, attempt) ? 'paused' : 'final';
  return attempt.continuesAt === undefined ? 'retriedByJob' : 'retriedFromCheckpoint';
}

/** Why a run without an attempt left pauses; undefined: it fails. */
export function pauseReasonOf(failure: Failure, { loaded, pauses }: CallAttempt): PauseReason | undefined {
  // A pinned run pauses, because it can move to another version, or its own version may come back.
  const isGone = failure.isVersionUnknown || failure.noResponse || failure.isForeign;
  if (loaded.run.pin && isGone) return 'version_gone';
  return failure.retriable && pauses ? 'exhausted' : undefined;
}

function kindOfCompleted({ ops }: Completed): Extract<Decision, { outcome: Completed }>['kind'] {
  if (!ops) return 'completed';
  return ops.every(isPlainStep) ? 'completedWithSteps' : 'completedWithOperations';
}

function kindOfSteps({ ops }: Steps, { job, loaded }: CallAttempt): Extract<Decision, { outcome: Steps }>['kind'] {
  const [only] = ops;
  if (only && ops.length === 1 && isPlainStep(only) && !Object.hasOwn(loaded.memos, only.id)) return 'step';
  if (only && ops.length === 1 && sleepsAlone(only, job, loaded)) return 'sleep';
  if (ops.some(({ op }) => op === 'StepError')) return 'failedStep';
  return job.finishedSteps !== undefined && ops.every(({ op }) => op === 'DiscoveryRequest') ? 'noNewStep' : 'steps';
}

/** Whether the operation begins a sleep and has no other effect, and the run waits for nothing else. */
function sleepsAlone(
  { id, op, metadata }: Op,
  { finishedSteps }: CallAttempt['job'],
  { run, memos, pending, planOnly }: CallAttempt['loaded'],
): boolean {
  if (op !== 'Sleep' || metadata != null || Object.hasOwn(memos, id)) return false;
  return finishedSteps !== undefined && pending === 0 && !planOnly && run.batch === undefined;
}

/** Whether the operation has no effect besides the memo of its step. */
function isPlainStep(op: Op): boolean {
  return isReturned(op) && op.metadata == null && !memoProblemOf(op);
}

function tooLarge({ output }: Completed): Failure | undefined {
  if (Buffer.byteLength(output) <= MAX_STEP_BYTES) return undefined;
  return retriableFailure(
    'OutputTooLarge',
    `the function's output is larger than ${MAX_STEP_BYTES} bytes; store large data elsewhere and return a reference`,
  );
}
