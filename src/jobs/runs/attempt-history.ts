/** History entries of an attempt: the attempt itself, and the steps that finished with it. */
import type { Outcome } from '../../functions/interpret-response.ts';
import { type Memo, type Pending, requestsOutside } from '../../model/runs/memo.ts';
import { errorOf, type Op, stepName } from '../../model/runs/operation.ts';
import type { HistoryEntry, RunError } from '../../model/runs/run.ts';
import { linksOfRequest, linksOfResult } from '../../model/runs/step-links.ts';
import type { Loaded } from '../../store/runs/loaded-run.ts';
import type { ResultContext } from '../../store/runs/steps.ts';
import type { CallAttempt } from './calls/call-attempt.ts';

const FINISHED: ReadonlySet<string> = new Set(['Step', 'StepRun', 'DeferAdd', 'DeferAbort']);
const STEP_FAILURES: ReadonlySet<string> = new Set(['StepFailed', 'StepError']);

/** A run that completes with its first call needs no history besides its record. */
export function needsNoHistory({ stack, pending }: Loaded, outcome: Outcome, attemptsMade: number): boolean {
  if (outcome.kind !== 'completed' || outcome.ops || outcome.request) return false;
  return stack.length === 0 && pending === 0 && attemptsMade === 0;
}

/** @param problemOf returns why an operation is not applied; undefined if it is applied */
export function attemptHistory(
  outcome: Outcome,
  { job, attempts, loaded, queuedAt, startedAt }: CallAttempt,
  problemOf: (op: Op) => RunError | undefined,
): HistoryEntry[] {
  const endedAt = Date.now();
  const times = { queuedAt, startedAt, endedAt };
  const planned = plannedAs(loaded.step);
  const attempt: HistoryEntry = {
    kind: 'attempt',
    ...(job.stepId && { stepId: job.stepId }),
    ...planned,
    attempt: attempts.made,
    ...times,
    ...(outcome.kind !== 'steps' && outcome.request && { request: outcome.request }),
    ...resultOf(outcome.kind === 'failed' ? outcome.error : undefined),
  };
  const finished = (outcome.ops ?? [])
    .map((op) => ({ op, error: STEP_FAILURES.has(op.op) ? errorOf(op) : problemOf(op) }))
    .filter(({ op, error }) => error || FINISHED.has(op.op));
  // Several finished steps, or steps of a last response, have the times that the app reports; a single step has those of its call.
  const ownTimes = finished.length > 1 || outcome.kind !== 'steps';
  const steps = finished.map(({ op, error }) => ({
    ...stepHistory(op, attempts.made, times),
    ...(op.id === job.stepId && groupOf(loaded.step)),
    ...(!ownTimes && times),
    ...resultOf(error),
  }));
  return [attempt, ...steps];
}

/** Entry of a step that ran in a call.
 *  @param during start and end of the call, Unix milliseconds: they bound the app's times, because its clock may be wrong
 *  @param otherwise start of the step, if the app does not report it */
export function stepHistory(
  op: Op,
  attempt: number,
  during: { startedAt: number; endedAt: number },
  otherwise = during.startedAt,
): HistoryEntry {
  const { timing } = op;
  const within = (ms: number) => Math.round(Math.min(Math.max(ms, during.startedAt), during.endedAt));
  return {
    kind: 'step',
    stepId: op.id,
    name: stepName(op),
    op: op.op,
    attempt,
    startedAt: timing ? within(timing.a / 1e6) : otherwise,
    endedAt: timing ? within((timing.a + timing.b) / 1e6) : during.endedAt,
    ...linksOfResult(op),
    ...resultOf(STEP_FAILURES.has(op.op) ? errorOf(op) : undefined),
  };
}

/** Entry of a step that waited: a sleep, a wait for an event or a signal, an invocation, a request. */
export function waitHistory(
  stepId: string,
  step: Pending,
  memo: Memo,
  endedAt: number,
  { links = {}, timedOut: isLate }: Pick<ResultContext, 'links' | 'timedOut'> = {},
): HistoryEntry {
  const { op, name, waitsFor, expression, invokes, since } = step;
  const ended = op === 'InvokeFunction' || requestsOutside({ op });
  const error = ended ? (memo as { error?: RunError }).error : undefined;
  const timedOut = isLate || ((op === 'WaitForEvent' || op === 'WaitForSignal') && memo === null);
  const entry: HistoryEntry = {
    kind: 'step',
    stepId,
    name,
    ...(waitsFor !== undefined && { waitsFor }),
    ...(expression !== undefined && { expression }),
    ...(invokes !== undefined && { invokes }),
    op,
    ...groupOf(step),
    startedAt: since,
    endedAt,
    ...linksOfRequest(step),
    ...links,
    ...resultOf(error),
  };
  return timedOut ? { ...entry, timedOut: true } : entry;
}

/** Entry of a failed request.
 *  @param status status of its response, if there was one */
export function requestHistory(
  stepId: string,
  step: Pending,
  failed: Required<Pick<HistoryEntry, 'attempt' | 'error' | 'queuedAt' | 'startedAt' | 'endedAt'>>,
  status?: number,
): HistoryEntry {
  const { op, name } = step;
  const links = linksOfRequest(step, status);
  return { kind: 'attempt', stepId, name, op, ...groupOf(step), ...links, ...failed, status: 'Failed' };
}

/** Fields that the entry of a planned step's call takes from the plan: the call may fail before the app names the step. */
function plannedAs(step: Pending | undefined): Pick<HistoryEntry, 'name' | 'group'> {
  return step ? { name: step.name, ...groupOf(step) } : {};
}

function groupOf(step: Pending | undefined): Pick<HistoryEntry, 'group'> {
  return step?.group === undefined ? {} : { group: step.group };
}

function resultOf(error: RunError | undefined): Pick<HistoryEntry, 'status' | 'error'> {
  return error ? { status: 'Failed', error } : { status: 'Completed' };
}
