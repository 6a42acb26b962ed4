import { expect } from 'chai';
import { type Outcome, permanentFailure, retriableFailure } from '../../src/functions/interpret-response.ts';
import type { CallAttempt } from '../../src/jobs/runs/calls/call-attempt.ts';
import { decide, decideFailure } from '../../src/jobs/runs/calls/call-decision.ts';
import { MAX_STEP_BYTES } from '../../src/model/runs/memo.ts';
import type { Op } from '../../src/model/runs/operation.ts';

interface State {
  at?: number | undefined;
  made?: number;
  finishedSteps?: number;
  pending?: number;
  continuesAt?: number;
  pauses?: boolean;
  isPinned?: boolean;
}

function attemptWith(state: State = {}): CallAttempt {
  const { at = 0, made = 0, finishedSteps = 0, pending = 0, continuesAt, pauses = false, isPinned = false } = state;
  const stack = Array.from({ length: finishedSteps }, (_, n) => `step-${n}`);
  return {
    job: {
      kind: 'call',
      env: 'production',
      runId: 'r',
      eventId: 'e',
      requestId: 'q',
      functionId: 'f',
      finishedSteps: at,
    },
    attempts: { made, max: 3, executions: 1 },
    loaded: {
      run: isPinned ? { pin: { app: 'shop', version: 'v1' } } : {},
      stack,
      pending,
      memos: finishedSteps > 0 ? { a: null } : {},
    },
    ...{ queuedAt: 0, startedAt: 0, pauses },
    ...(continuesAt !== undefined && { continuesAt }),
  } as unknown as CallAttempt;
}

const op = (name: string): Op => ({ op: name, id: 'a', displayName: 'a' });
const COMPLETED: Outcome = { kind: 'completed', output: '1' };
const RETRIABLE = retriableFailure('Declined', 'the card was declined');
const NO_RESPONSE = { ...RETRIABLE, noResponse: true } as const;

const DECISIONS: [title: string, outcome: Outcome, state: State, kind: string][] = [
  ['a first call that completes', COMPLETED, {}, 'completed'],
  ['a first call that completes and reports steps', { ...COMPLETED, ops: [op('StepRun')] }, {}, 'completedWithSteps'],
  [
    'a first call that completes, reports a step and defers a function',
    { ...COMPLETED, ops: [op('StepRun'), op('DeferAdd')] },
    {},
    'completedWithOperations',
  ],
  [
    'a first call that completes, and reports a step that is too large',
    { ...COMPLETED, ops: [{ ...op('StepRun'), data: 'x'.repeat(MAX_STEP_BYTES) }] },
    {},
    'completedWithOperations',
  ],
  ['a later call that completes', COMPLETED, { at: 1, finishedSteps: 1 }, 'completed'],
  ['a second attempt that completes', COMPLETED, { made: 1 }, 'completed'],
  ['a call that completes while a step is pending', COMPLETED, { pending: 1 }, 'completed'],
  ['an output that is too large', { kind: 'completed', output: 'x'.repeat(MAX_STEP_BYTES + 1) }, {}, 'failed'],
  ['a failure', RETRIABLE, {}, 'failed'],
  ['a finished step', { kind: 'steps', ops: [op('StepRun')] }, {}, 'step'],
  ['a step that was finished before', { kind: 'steps', ops: [op('StepRun')] }, { finishedSteps: 1 }, 'steps'],
  ['a finished step beside a planned one', { kind: 'steps', ops: [op('StepRun'), op('StepPlanned')] }, {}, 'steps'],
  ['a finished step with metadata', { kind: 'steps', ops: [{ ...op('StepRun'), metadata: [] }] }, {}, 'steps'],
  [
    'a finished step that is too large',
    { kind: 'steps', ops: [{ ...op('StepRun'), data: 'x'.repeat(MAX_STEP_BYTES) }] },
    {},
    'steps',
  ],
  ['a step that has failed for good', { kind: 'steps', ops: [op('StepFailed')] }, {}, 'steps'],
  ['a step that may be retried', { kind: 'steps', ops: [op('StepRun'), op('StepError')] }, {}, 'failedStep'],
  ['no operation', { kind: 'steps', ops: [] }, {}, 'noNewStep'],
  ['the request for another call', { kind: 'steps', ops: [op('DiscoveryRequest')] }, {}, 'noNewStep'],
];

const FAILURES: [title: string, failure: typeof RETRIABLE, state: State, decision: string][] = [
  ['a first attempt', RETRIABLE, {}, 'retriedByJob'],
  ['the last attempt', RETRIABLE, { made: 2 }, 'final'],
  ['the last attempt of a function that pauses then', RETRIABLE, { made: 2, pauses: true }, 'paused'],
  ['an earlier attempt of a function that pauses', RETRIABLE, { made: 1, pauses: true }, 'retriedByJob'],
  ['the last attempt of a pinned run', RETRIABLE, { made: 2, isPinned: true }, 'final'],
  ['the last attempt of a pinned run whose app is gone', NO_RESPONSE, { made: 2, isPinned: true }, 'paused'],
  ['the last attempt of a run whose app is gone', NO_RESPONSE, { made: 2 }, 'final'],
  ['an attempt of a call that has stored steps', RETRIABLE, { continuesAt: 1 }, 'retriedFromCheckpoint'],
  ['a failure that no retry would mend', permanentFailure('NoCustomer', 'no such customer'), {}, 'final'],
  ['the same of a function that pauses', permanentFailure('NoCustomer', 'no such customer'), { pauses: true }, 'final'],
];

describe('The decision about a call', () => {
  for (const [title, outcome, state, kind] of DECISIONS) {
    it(`${title} is decided as ${kind}`, () => {
      expect(decide(outcome, attemptWith(state)).kind).to.equal(kind);
    });
  }

  it('a call of one planned step without an operation in its response does not end a call with checkpoints', () => {
    const attempt = attemptWith();
    delete attempt.job.finishedSteps;
    expect(decide({ kind: 'steps', ops: [] }, attempt).kind).to.equal('steps');
  });

  it('a response whose output is too large keeps its other reports', () => {
    const outcome: Outcome = { kind: 'completed', output: 'x'.repeat(MAX_STEP_BYTES + 1), ops: [op('StepRun')] };
    expect(decide(outcome, attemptWith()).outcome.ops).to.deep.equal([op('StepRun')]);
  });

  for (const [title, failure, state, decision] of FAILURES) {
    it(`${title} that fails is ${decision}`, () => {
      expect(decideFailure(failure, attemptWith(state))).to.equal(decision);
    });
  }
});
