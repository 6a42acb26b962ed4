/** The API's representation of a run. */
import { z } from 'zod';
import type { Dialect } from '../../model/apps/app.ts';
import { CANCEL_CAUSES } from '../../model/runs/cancel-reason.ts';
import { RUN_STATUSES, type Run } from '../../model/runs/run.ts';
import { withoutSource } from '../../model/runs/run-error.ts';
import { isShallowJson, MAX_DEPTH, parseStored } from '../../model/values/json.ts';
import { uuidOf } from '../../model/values/uuid.ts';
import { apiObject, principal, textOrNull, timeOrNull } from '../http/validation.ts';
import { present } from './present.ts';

export const runErrorSchema = z.object({
  name: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  cause: z.unknown().optional().describe('The cause: an error or any other value'),
  data: z.unknown().optional().describe('Data that a failed step returned with its error'),
  code: z.union([z.string(), z.number()]).optional(),
  source: z
    .object({
      file: z.string(),
      line: z.int(),
      lines: z.array(z.object({ line: z.int(), text: z.string() })),
    })
    .optional()
    .describe('The line of code that threw the error, with surrounding lines, if the app sent them'),
});

const cancelReasonSchema = apiObject('CancelReason', {
  cause: z
    .enum(CANCEL_CAUSES)
    .describe(
      'request: a user, through the API or the dashboard; event: an event that met a cancel trigger; pause: the function was paused, and ' +
        'its queued runs cancelled; singleton: another run of the same key replaced it; replay: the replay that started the run was cancelled with its runs',
    ),
  id: textOrNull.describe('ID of the event, the bulk cancellation or bulk action, the replay, or the other run'),
  by: principal.nullable().describe('The user who requested it, as in the audit log; null: unknown, or no user did'),
});

/** Additional fields for users of the official SDKs (docs/rest.md). */
const officialFields = {
  function_version: z.int().describe('Always 1'),
  environment_id: z.string().describe('A UUID that stands for the environment'),
  original_run_id: textOrNull.describe('Same as retry_of'),
  batch_id: textOrNull.describe('For the run of a batch: the ID of its first event'),
  cron: textOrNull.describe('Always null'),
};

export const runSchema = apiObject('Run', {
  run_id: z.string(),
  function_id: z.string(),
  event_id: z.string().describe('Internal ID of the event that triggered the run; for a batch, the first event'),
  event_ids: z.array(z.string()).describe('Internal IDs of all events that the run handles; for a batch, in order'),
  status: z.enum(RUN_STATUSES),
  attempt: z.int().describe('Number of attempts before the current or last one'),
  queued_at: z.iso.datetime(),
  run_started_at: timeOrNull,
  ended_at: timeOrNull,
  output: z
    .unknown()
    .describe('Output of the function; null until it has returned. For a failed run, the error as the app sent it'),
  error: runErrorSchema
    .nullable()
    .describe('Error of the last failed attempt; null when none failed or a later one succeeded'),
  request_id: z.string().describe('ID of the request that sent the event'),
  cancel_reason: cancelReasonSchema
    .nullable()
    .describe('null: not cancelled, or cancelled by an earlier version of the service'),
  app_version: textOrNull.describe(
    'The version of its app on which the run ends; null: it is not pinned, and continues with the active one',
  ),
  retry_of: textOrNull.describe('The run of which this is a re-run'),
  replay_id: textOrNull.describe('The replay that started it'),
  from_step: textOrNull.describe(
    'Hashed ID of the step from which a re-run started; null: it started from the beginning',
  ),
  ...officialFields,
});

/** A run in a list of events. */
export function presentBrief({ id, functionId, status }: Pick<Run, 'id' | 'functionId' | 'status'>) {
  return { run_id: id, function_id: functionId, status };
}

/** Outputs deeper than MAX_DEPTH are rejected on receipt. An output stored before this rule becomes an error, so that it does not hide the other
 *  runs of a list. */
function readOutput(output: string): { output: unknown } | { error: z.infer<typeof runErrorSchema> } {
  try {
    if (isShallowJson(output)) return { output: parseStored(output) };
  } catch {
    // The error below.
  }
  const message = `the stored output is not JSON or has more than ${MAX_DEPTH} levels; it is omitted`;
  return { error: { name: 'OutputUnreadable', message } };
}

/** @param dialect for official SDKs, a run is `Running` from the start, and starts when it is queued */
export function presentRun(run: Run, dialect: Dialect = 'service') {
  const { id, env, eventId, status, queuedAt, startedAt, output, error } = run;
  const read = output === undefined ? { output: null } : readOutput(output);
  const shownError = error ?? ('error' in read ? read.error : null);
  const isRunningFromTheStart = dialect === 'inngest';
  return present(
    runSchema,
    {
      ...run,
      runId: id,
      status: isRunningFromTheStart && status === 'Queued' ? 'Running' : status,
      runStartedAt: startedAt ?? (isRunningFromTheStart ? queuedAt : undefined),
      appVersion: run.pin?.version,
      originalRunId: run.retryOf,
    },
    {
      event_ids: run.batch ?? [eventId],
      // A failed run has its own output if the error differs from the app's response.
      output:
        status === 'Failed' && output === undefined
          ? shownError && withoutSource(shownError)
          : 'output' in read
            ? read.output
            : null,
      error: shownError,
      from_step: run.fromStep?.id ?? null,
      function_version: 1,
      environment_id: uuidOf(env),
      batch_id: run.batch ? eventId : null,
      cron: null,
    },
  );
}
