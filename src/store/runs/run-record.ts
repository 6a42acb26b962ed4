/** Converts runs from their fields in Redis. */
import { readPin } from '../../model/apps/versions.ts';
import type { FrozenKeys } from '../../model/flow-control/options.ts';
import { readCancelReason } from '../../model/runs/cancel-reason.ts';
import type { EndpointResponse } from '../../model/runs/endpoint-response.ts';
import type { Memo, Pending } from '../../model/runs/memo.ts';
import type { Pause } from '../../model/runs/pause.ts';
import type { Run, RunError, RunStatus } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { idsIn } from '../redis/joined-ids.ts';

/** Maximum characters of an unreadable error shown in the message. */
const SHOWN = 200;

export function toRun(env: string, id: string, fields: Record<string, string>): Run {
  const {
    [RUN_FIELDS.startedAt]: startedAt,
    [RUN_FIELDS.endedAt]: endedAt,
    [RUN_FIELDS.output]: output,
    [RUN_FIELDS.keys]: keys,
    [RUN_FIELDS.cancelReason]: cancelReason,
    response,
    error,
    invoker_run,
    invoker_step,
    retry_of,
    replay,
    bulk_action,
    due_at,
    trace,
    version,
    defers,
    from_step,
    step_input,
    earlier_runs,
    batch,
    paused,
    fingerprint,
    uncounted,
  } = fields;
  return {
    id,
    env,
    functionId: fields[RUN_FIELDS.functionId] as string,
    eventId: fields[RUN_FIELDS.eventId] as string,
    requestId: fields[RUN_FIELDS.requestId] as string,
    ...(invoker_run && invoker_step && { invoker: { runId: invoker_run, stepId: invoker_step } }),
    ...(retry_of && { retryOf: retry_of }),
    ...(replay && { replayId: replay }),
    ...(bulk_action && { bulkActionId: bulk_action }),
    ...(from_step && {
      fromStep: { id: from_step, ...(step_input && { input: JSON.parse(step_input) as unknown[] }) },
    }),
    ...(earlier_runs && { earlierRuns: idsIn(earlier_runs) }),
    ...(version && { pin: readPin(version) }),
    ...(trace && { trace }),
    ...(defers && { defers: Number(defers) }),
    ...(batch && { batch: idsIn(batch) }),
    ...(keys && { keys: JSON.parse(keys) as FrozenKeys }),
    status: fields[RUN_FIELDS.status] as RunStatus,
    attempt: Number(fields[RUN_FIELDS.attempt]),
    queuedAt: Number(fields[RUN_FIELDS.queuedAt]),
    ...(due_at && { dueAt: Number(due_at) }),
    ...(startedAt && { startedAt: Number(startedAt) }),
    ...(endedAt && { endedAt: Number(endedAt) }),
    ...(output !== undefined && { output }),
    ...(response && { response: JSON.parse(response) as EndpointResponse }),
    ...(error !== undefined && { error: readError(error) }),
    ...(cancelReason !== undefined && cancelReasonOf(cancelReason)),
    ...(paused && { pause: JSON.parse(paused) as Pause }),
    ...(fingerprint && { fingerprint }),
    ...(uncounted !== undefined && { uncounted }),
  };
}

function cancelReasonOf(text: string): Pick<Run, 'cancelReason'> {
  const reason = readCancelReason(text);
  return reason ? { cancelReason: reason } : {};
}

/** Reads an error, even an unreadable one: its run must not hide others, and can still be ended. */
export function readError(text: string): RunError {
  try {
    return JSON.parse(text) as RunError;
  } catch {
    return { name: 'ErrorUnreadable', message: `the stored error is not JSON: ${text.slice(0, SHOWN)}` };
  }
}

/** @param texts hash of memos */
export function toMemos(texts: Readonly<Record<string, string>>): Record<string, Memo> {
  return Object.fromEntries(Object.entries(texts).map(([id, text]) => [id, JSON.parse(text) as Memo]));
}

/** @param texts hash of steps that have begun */
export function toPending(texts: Readonly<Record<string, string>>): Map<string, Pending> {
  return new Map(Object.entries(texts).map(([id, text]) => [id, JSON.parse(text) as Pending]));
}
