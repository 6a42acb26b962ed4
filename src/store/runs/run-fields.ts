/** Converts runs from their fields in Redis. */
import type { FrozenKeys } from '../../model/flow-control/options.ts';
import { readCancelReason } from '../../model/runs/cancel-reason.ts';
import type { EndpointResponse } from '../../model/runs/endpoint-response.ts';
import type { Pending } from '../../model/runs/memo.ts';
import type { HistoryEntry, Run, RunError, RunStatus } from '../../model/runs/run.ts';
import { linksOfRequest } from '../../model/runs/step-links.ts';

/** Fields of a run's hash. Fields that every run has are one letter, to save memory. The scripts get them as constants (redis/scripts.ts). */
export const RUN_FIELDS = {
  functionId: 'f',
  eventId: 'e',
  requestId: 'r',
  status: 's',
  attempt: 'a',
  queuedAt: 'q',
  startedAt: 'b',
  endedAt: 'x',
  output: 'o',
  /** Of an endpoint: status and headers, as JSON. */
  response: 'response',
  error: 'error',
  invokerRun: 'invoker_run',
  invokerStep: 'invoker_step',
  retryOf: 'retry_of',
  replay: 'replay',
  fromStep: 'from_step',
  /** Of the step that a re-run begins with, as JSON. */
  stepInput: 'step_input',
  trace: 'trace',
  answeredAt: 'answered_at',
  racedAt: 'raced_at',
  memoBytes: 'memo_bytes',
  /** `<finished steps>:<owner>`: the owner stored the last of these steps and continues from there; absent: the next call does. The owner
   *  is a call (the number of finished steps that it was made for), or the endpoint's own request. */
  checkpoint: 'checkpoint',
  defers: 'defers',
  /** What the limits of its function need of its event, as JSON. */
  keys: 'k',
  /** IDs of the events of a batch, concatenated. */
  batch: 'batch',
  /** Why it was cancelled (model/runs/cancel-reason.ts). */
  cancelReason: 'c',
  /** Of a failed run (model/errors/fingerprint.ts). */
  fingerprint: 'fingerprint',
  /** Of a failed run that is not counted in its error group (store/errors/error-groups.ts): name of the step that failed, or empty. */
  uncounted: 'uncounted',
} as const;

/** Followed by a number of finished steps: the call with that many may still plan steps. */
export const PLANNING_FIELD = 'planning:';

/** In the JSON of a pending step in race mode, and in no other: inside a string the quotes are escaped. */
export const PENDING_RACE = '"race":true';

/** In the JSON of a pending step that a call is to run, and in no other, likewise. */
export const PENDING_PLANNED = '"op":"StepPlanned"';

const ID_LENGTH = 26;

/** Characters of an unreadable error in the message. */
const SHOWN = 200;

export function toRun(env: string, id: string, fields: Record<string, string>): Run {
  const {
    f,
    e,
    r,
    s,
    a,
    q,
    b,
    x,
    o,
    response,
    error,
    invoker_run,
    invoker_step,
    retry_of,
    replay,
    trace,
    defers,
    k,
    c,
    from_step,
    step_input,
    batch,
    fingerprint,
    uncounted,
  } = fields;
  return {
    id,
    env,
    functionId: f as string,
    eventId: e as string,
    requestId: r as string,
    ...(invoker_run && invoker_step && { invoker: { runId: invoker_run, stepId: invoker_step } }),
    ...(retry_of && { retryOf: retry_of }),
    ...(replay && { replayId: replay }),
    ...(from_step && {
      fromStep: { id: from_step, ...(step_input && { input: JSON.parse(step_input) as unknown[] }) },
    }),
    ...(trace && { trace }),
    ...(defers && { defers: Number(defers) }),
    ...(batch && { batch: idsIn(batch) }),
    ...(k && { keys: JSON.parse(k) as FrozenKeys }),
    status: s as RunStatus,
    attempt: Number(a),
    queuedAt: Number(q),
    ...(b && { startedAt: Number(b) }),
    ...(x && { endedAt: Number(x) }),
    ...(o !== undefined && { output: o }),
    ...(response && { response: JSON.parse(response) as EndpointResponse }),
    ...(error !== undefined && { error: readError(error) }),
    ...(c !== undefined && cancelReasonOf(c)),
    ...(fingerprint && { fingerprint }),
    ...(uncounted !== undefined && { uncounted }),
  };
}

/** IDs that are stored one after another. */
export function idsIn(text: string): string[] {
  return Array.from({ length: text.length / ID_LENGTH }, (_, i) => text.slice(i * ID_LENGTH, (i + 1) * ID_LENGTH));
}

function cancelReasonOf(text: string): Pick<Run, 'cancelReason'> {
  const reason = readCancelReason(text);
  return reason ? { cancelReason: reason } : {};
}

/** A run that cannot be read must not hide others, and can still be ended. */
function readError(text: string): RunError {
  try {
    return JSON.parse(text) as RunError;
  } catch {
    return { name: 'ErrorUnreadable', message: `the stored error is not JSON: ${text.slice(0, SHOWN)}` };
  }
}

export function toHistory(texts: readonly string[]): HistoryEntry[] {
  return texts.map((text) => {
    const entry = JSON.parse(text) as HistoryEntry | LeftOverStep;
    return 'pending' in entry ? leftOverHistory(entry) : entry;
  });
}

/** As end-run.lua stores a step that was pending when its run ended. */
interface LeftOverStep {
  stepId: string;
  endedAt: number;
  pending: Pending;
}

function leftOverHistory({
  stepId,
  endedAt,
  pending: { since, race: _, origin, method, ...step },
}: LeftOverStep): HistoryEntry {
  const links = linksOfRequest({ origin, method });
  return { kind: 'step', stepId, ...step, ...links, status: 'Cancelled', startedAt: since, endedAt };
}
