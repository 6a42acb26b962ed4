/** A run's history as the API tells it. */
import { z } from 'zod';
import type { Pending } from '../../model/runs/memo.ts';
import { type HistoryEntry, hasEnded, type Run } from '../../model/runs/run.ts';
import { runErrorSchema } from './run.ts';
import { time } from './time.ts';

export const historySchema = z
  .object({
    kind: z.enum(['attempt', 'step']),
    step_id: z.string().nullable().meta({ description: 'Hashed ID of the step' }),
    name: z.string().nullable(),
    op: z.string().nullable().meta({ description: 'What kind of step: StepRun, Sleep, WaitForEvent, …' }),
    attempt: z.int().nullable().meta({ description: 'Tries before this one' }),
    status: z.enum(['Waiting', 'Completed', 'Failed']),
    queued_at: z.iso.datetime().nullable(),
    started_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
    until: z.iso.datetime().nullable().meta({ description: 'When a step that waits gives up, or wakes' }),
    error: runErrorSchema.nullable(),
    timed_out: z.boolean().meta({ description: 'Of a wait for an event: none came in time' }),
  })
  .meta({ id: 'HistoryEntry' });

/** Attempts and steps in the order of their ends, and then what waits. */
export function presentHistory(run: Run, entries: readonly HistoryEntry[], pending: ReadonlyMap<string, Pending>) {
  const ended = entries.length > 0 ? entries : onlyAttempt(run);
  return [...ended.map(presentEntry), ...[...pending].map(([stepId, step]) => presentPending(stepId, step))];
}

/** Of a run that was done with its first call nothing is written down beside its own record. */
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

function presentEntry(entry: HistoryEntry) {
  const { kind, stepId, name, op, attempt, status, queuedAt, startedAt, endedAt, error, timedOut = false } = entry;
  return {
    kind,
    step_id: stepId ?? null,
    name: name ?? null,
    op: op ?? null,
    attempt: attempt ?? null,
    status,
    queued_at: time(queuedAt),
    started_at: time(startedAt),
    ended_at: time(endedAt),
    until: null,
    error: error ?? null,
    timed_out: timedOut,
  };
}

function presentPending(stepId: string, { op, name, since, until }: Pending) {
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
    error: null,
    timed_out: false,
  };
}
