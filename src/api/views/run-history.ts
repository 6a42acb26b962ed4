/** The API's representation of a run's history. */
import { z } from 'zod';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { awaitedBy, type Pending } from '../../model/runs/memo.ts';
import {
  type HistoryEntry,
  hasEnded,
  invokedRunId,
  MAX_SENT_IDS,
  type Run,
  type StepLinks,
} from '../../model/runs/run.ts';
import { linksOfRequest } from '../../model/runs/step-links.ts';
import { apiObject, textOrNull, timeOrNull, wholeOrNull } from '../http/validation.ts';
import { present } from './present.ts';
import { runErrorSchema } from './run.ts';

export const historySchema = apiObject('HistoryEntry', {
  kind: z.enum(['attempt', 'step']),
  step_id: textOrNull.describe('Hashed ID of the step'),
  name: textOrNull,
  op: textOrNull.describe('Kind of step: StepRun, Sleep, WaitForEvent, …'),
  attempt: wholeOrNull.describe('Number of earlier attempts'),
  status: z
    .enum(['Waiting', 'Completed', 'Failed', 'Cancelled'])
    .describe('Cancelled: the step was pending when its run ended'),
  queued_at: timeOrNull,
  started_at: timeOrNull,
  ended_at: timeOrNull,
  until: timeOrNull.describe('When a pending sleep or wait ends; if cancelled, when it would have ended'),
  waits_for: textOrNull.describe('Name of the event or signal that a wait is for'),
  if: textOrNull.describe('The expression that the event of a wait must meet; a long expression is cut off'),
  invoked: z
    .object({
      function_id: textOrNull.describe('null: not known'),
      run_id: z.string().describe('The ID of no run, if the function was not started'),
    })
    .nullable()
    .describe('The function that a step of the kind InvokeFunction invokes'),
  error: runErrorSchema.nullable(),
  timed_out: z.boolean().describe('true: the wait or the invocation ended at its timeout'),
  group: wholeOrNull.describe(
    'Steps with the same number were planned together, to run in parallel; null: the step was planned alone',
  ),
  run_id: textOrNull.describe(
    'The run that the step started by an invocation, or that continued with the signal that the step sent',
  ),
  event_id: textOrNull.describe('Internal ID of the event that ended the wait'),
  event_ids: z
    .array(z.string())
    .max(MAX_SENT_IDS)
    .describe(`Internal IDs of the first ${MAX_SENT_IDS} events that the step sent`),
  events_sent: wholeOrNull.describe('Number of events that the step sent; null: it is not a step that sends events'),
  request: z
    .object({
      method: z.string(),
      origin: z.string().describe('Scheme, host and port; the path may hold secrets'),
      status: wholeOrNull.describe('Status of the response; null: there is no response'),
    })
    .nullable()
    .describe('The request that the service made for the step'),
});

/** Attempts and steps in order of completion, followed by pending steps. */
export function presentHistory(
  ids: PartitionedIds,
  run: Run,
  entries: readonly HistoryEntry[],
  pending: ReadonlyMap<string, Pending>,
) {
  const ended = entries.length > 0 ? entries : onlyAttempt(run);
  return [
    ...ended.map((entry) => presentEntry(ids, run, entry)),
    ...[...pending].flatMap(([stepId, step]) => (step.beginning ? [] : presentPending(ids, run, stepId, step))),
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

function presentEntry(ids: PartitionedIds, run: Run, entry: HistoryEntry) {
  const { stepId, name, waitsFor, op, status, error, expression, timedOut = false } = entry;
  // The step was invoking when its run ended.
  const isCancelledInvocation = op === 'InvokeFunction' && status === 'Cancelled' && stepId !== undefined;
  return present(
    historySchema,
    { ...entry, if: expression, timedOut },
    {
      waits_for: op && name !== undefined ? (awaitedBy({ op, name, waitsFor }) ?? null) : null,
      invoked: invokedBy(ids, run, entry),
      error: error ?? null,
      ...presentLinks(isCancelledInvocation ? { runId: invokedRunId(ids, run.id, stepId) } : entry),
    },
  );
}

function presentLinks({ runId, eventId, sent, request }: StepLinks) {
  return {
    run_id: runId ?? null,
    event_id: eventId ?? null,
    event_ids: sent?.ids ?? [],
    events_sent: sent?.count ?? null,
    request: request ? { ...request, status: request.status ?? null } : null,
  };
}

function presentPending(ids: PartitionedIds, run: Run, stepId: string, step: Pending) {
  const { op, name, since, until, group, expression } = step;
  const links: StepLinks =
    op === 'InvokeFunction' ? { runId: invokedRunId(ids, run.id, stepId) } : linksOfRequest(step);
  return present(
    historySchema,
    { stepId, name, op, queuedAt: since, startedAt: since, until, group, if: expression },
    {
      kind: 'step',
      attempt: null,
      status: 'Waiting',
      ended_at: null,
      waits_for: awaitedBy(step) ?? null,
      invoked: invokedBy(ids, run, { ...step, stepId }),
      error: null,
      timed_out: false,
      ...presentLinks(links),
    },
  );
}

function invokedBy(
  ids: PartitionedIds,
  { id }: Pick<Run, 'id'>,
  { op, stepId, invokes }: Pick<HistoryEntry, 'op' | 'stepId' | 'invokes'>,
) {
  if (op !== 'InvokeFunction' || stepId === undefined) return null;
  return { function_id: invokes ?? null, run_id: invokedRunId(ids, id, stepId) };
}
