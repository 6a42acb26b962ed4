/** `WaitForEvent`: the step ends with a matching event, or at its timeout. */
import type { Failure } from '../../../functions/interpret-response.ts';
import { permanentFailure } from '../../../functions/interpret-response.ts';
import { expressionEventOf } from '../../../model/events/event.ts';
import { compileProblem, compileWait } from '../../../model/expressions/expression.ts';
import { shownExpression } from '../../../model/runs/memo.ts';
import { type Op, stepName } from '../../../model/runs/operation.ts';
import type { Run } from '../../../model/runs/run.ts';
import { waitKey } from '../../../model/runs/wait.ts';
import { indexWait } from '../../../model/runs/wait-index.ts';
import type { NewWait } from '../../../store/runs/waits.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';
import { enqueueWake, type StartingStep, startStep, waitingStep } from './steps.ts';
import { untilOf } from './timeout.ts';

export function pendingWait(op: Op, nowMs: number): StartingStep | Failure {
  const name = op.opts?.event || op.name || '';
  const expression = op.opts?.if ?? undefined;
  if (name === '') {
    return permanentFailure('InvalidWait', `step "${stepName(op)}" waits for an event without a name`);
  }
  const problem = expression && compileProblem(expression, compileWait);
  if (problem) return permanentFailure('InvalidExpression', `step "${stepName(op)}" has an invalid "if": ${problem}`);
  const until = untilOf(op, nowMs);
  if ('kind' in until) return until;
  const shown = expression ? { expression: shownExpression(expression) } : {};
  return { ...waitingStep('WaitForEvent', op, name), ...shown, ...until };
}

export async function startWait(op: Op, call: CallWithResponse, deps: OperationDeps): Promise<Failure | undefined> {
  const { run, event } = call.loaded;
  const step = pendingWait(op, call.nowMs);
  if ('kind' in step) return step;
  const waiting = await startStep(op, call, deps, step);
  if (!waiting || 'kind' in waiting) return waiting;
  const eventName = step.waitsFor ?? step.name;
  const expression = op.opts?.if ?? undefined;
  const added = waitOfStep(run, op.id, { eventName, expression, until: waiting.until }, expressionEventOf(event));
  // The wake job is enqueued before an event can match the wait, because a match removes the job.
  if (waiting.until !== undefined) await enqueueWake(op, call, deps, { untilMs: waiting.until, eventName });
  const stored = await deps.waits.add(run.env, [added], call.nowMs);
  // An earlier execution of the call may have begun the step and then died. Whoever saw the step may have sent the event since.
  await deps.waitMatcher.matchPastEvents(run.env, eventName, stored, waiting.since);
  return undefined;
}

/** @param caused the run's event as expressions see it */
export function waitOfStep(
  run: Pick<Run, 'id' | 'functionId' | 'eventId'>,
  stepId: string,
  { eventName, expression, until }: { eventName: string; expression?: string | undefined; until?: number | undefined },
  caused: unknown,
): NewWait {
  const described = {
    runId: run.id,
    functionId: run.functionId,
    eventId: run.eventId,
    stepId,
    ...(expression && { expression }),
    ...(until !== undefined && { until }),
  };
  return { key: waitKey(described), eventName, ...indexWait(described, caused) };
}
