/** The API's representation of a run's history. */
import { z } from 'zod';
import { awaitedBy, type Pending } from '../../model/runs/memo.ts';
import { type HistoryEntry, hasEnded, invokedRunId, type Run } from '../../model/runs/run.ts';
import { runErrorSchema } from './run.ts';
import { time } from './time.ts';

export const historySchema = z
  .object({
    kind: z.enum(['attempt', 'step']),
    step_id: z.string().nullable().meta({ description: 'Hashed ID of the step' }),
    name: z.string().nullable(),
    op: z.string().nullable().meta({ description: 'Kind of step: StepRun, Sleep, WaitForEvent, …' }),
    attempt: z.int().nullable().meta({ description: 'Number of earlier attempts' }),
    status: z
      .enum(['Waiting', 'Completed', 'Failed', 'Cancelled'])
      .meta({ description: 'Cancelled: the step was pending when its run ended' }),
    queued_at: z.iso.datetime().nullable(),
    started_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
    until: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When a pending sleep or wait ends; of a cancelled one, when it would have ended' }),
    waits_for: z.string().nullable().meta({ description: 'Name of the event or signal that a wait is for' }),
    if: z
      .string()
      .nullable()
      .meta({ description: 'The expression that the event of a wait must meet; of a long one, the beginning' }),
    invoked: z
      .object({
        function_id: z.string().nullable().meta({ description: 'null: not known' }),
        run_id: z.string().meta({ description: 'There is no such run where the function did not start' }),
      })
      .nullable()
      .meta({ description: 'What a step of the kind InvokeFunction invokes' }),
    error: runErrorSchema.nullable(),
    timed_out: z.boolean().meta({ description: 'true: no matching event arrived before the timeout of the wait' }),
  })
  .meta({ id: 'HistoryEntry' });

/** Attempts and steps in order of completion, then pending steps. */
export function presentHistory(run: Run, entries: readonly HistoryEntry[], pending: ReadonlyMap<string, Pending>) {
  const ended = entries.length > 0 ? entries : onlyAttempt(run);
  return [
    ...ended.map((entry) => presentEntry(run, entry)),
    ...[...pending].map(([stepId, step]) => presentPending(run, stepId, step)),
  ];
}

/** The history of a run that ended with its first call, for which no history is stored. */
function onlyAttempt({ attempt, status, queuedAt, startedAt, endedAt, error, ...run }: Run): HistoryEntry[] {
  if (startedAt === undefined || endedAt === undefined || !hasEnded({ ...run, status }) || status === 'Cancelled')
    return [];
  return [
    {
      kind: 'attempt',
      attempt,
      status: status === 'Failed' ? 'Failed' : 'Completed',
      queuedAt,
      startedAt,
      endedAt,
      ...(error && { error }),
    },
  ];
}

function presentEntry(run: Run, entry: HistoryEntry) {
  const {
    kind,
    stepId,
    name = null,
    waitsFor,
    op = null,
    attempt,
    status,
    queuedAt,
    startedAt,
    endedAt,
    error,
    until,
    expression = null,
    timedOut = false,
  } = entry;
  return {
    kind,
    step_id: stepId ?? null,
    name,
    op,
    attempt: attempt ?? null,
    status,
    queued_at: time(queuedAt),
    started_at: time(startedAt),
    ended_at: time(endedAt),
    until: time(until),
    waits_for: op && name !== null ? (awaitedBy({ op, name, waitsFor }) ?? null) : null,
    if: expression,
    invoked: invokedBy(run, entry),
    error: error ?? null,
    timed_out: timedOut,
  };
}

function presentPending(run: Run, stepId: string, step: Pending) {
  const { op, name, since, until, expression = null } = step;
  return {
    kind: 'step',
    step_id: stepId,
    name,
    op,
    attempt: null,
    status: 'Waiting',
    queued_at: time(since),
    started_at: time(since),
    ended_at: null,
    until: time(until),
    waits_for: awaitedBy(step) ?? null,
    if: expression,
    invoked: invokedBy(run, { ...step, stepId }),
    error: null,
    timed_out: false,
  };
}

function invokedBy({ id }: Pick<Run, 'id'>, { op, stepId, invokes }: Pick<HistoryEntry, 'op' | 'stepId' | 'invokes'>) {
  if (op !== 'InvokeFunction' || stepId === undefined) return null;
  return { function_id: invokes ?? null, run_id: invokedRunId(id, stepId) };
}
