/** Converts runs to the fields that are written at their creation and at their end. run-record.ts reads them. */
import { type Pin, pinText } from '../../model/apps/versions.ts';
import type { RecordParts } from '../../model/events/event.ts';
import type { FrozenKeys } from '../../model/flow-control/options.ts';
import { cancelReasonText } from '../../model/runs/cancel-reason.ts';
import type { Ending, Invoker, Run, RunStatus } from '../../model/runs/run.ts';
import type { FromStep } from '../../model/runs/step-input.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { fromFlat } from '../redis/connection/scripts.ts';
import type { WaitingCall } from '../redis/job-lists.ts';
import { isOverflow } from './event-runs.ts';
import { toRun } from './run-record.ts';

export interface NewRun extends Pick<Run, 'id' | 'env' | 'functionId' | 'eventId' | 'requestId' | 'queuedAt'> {
  invoker?: Invoker;
  retryOf?: string;
  replayId?: string;
  bulkActionId?: string;
  fromStep?: FromStep;
  earlierRuns?: readonly string[];
  pin?: Pin;
  trace?: string;
  keys?: FrozenKeys;
  batch?: readonly string[];
  /** If it is later than `queuedAt`. */
  dueAt?: number;
  /** Time of the first reconciliation, Unix milliseconds. */
  reconcileAt: number;
  /** Who already executes it (checkpoints.ts); undefined: its first call will. */
  owner?: string;
  /** The job of its first call, to be added with it; undefined: it is added later, if at all. */
  job?: FirstCall | undefined;
}

export interface FirstCall extends WaitingCall {
  /** The event of a call that may start as the run is created. It is stored for longer than the run needs it. */
  event?: RecordParts | undefined;
}

/** Maximum number of runs per script, which blocks Redis for a millisecond or two. */
export const CREATED_AT_ONCE = 100;

/** Groups runs by environment and time of creation, CREATED_AT_ONCE at most. */
export function* portionsOf(runs: readonly NewRun[]): Generator<[NewRun, ...NewRun[]]> {
  let portion: NewRun[] = [];
  for (const run of runs) {
    const [first] = portion;
    if (first && (first.env !== run.env || first.queuedAt !== run.queuedAt || portion.length === CREATED_AT_ONCE)) {
      yield portion as [NewRun, ...NewRun[]];
      portion = [];
    }
    portion.push(run);
  }
  if (portion.length > 0) yield portion as [NewRun, ...NewRun[]];
}

/** Converts to create-runs.lua's format.
 *  @param startsAt when its first call starts if its job is taken, Unix milliseconds; undefined: later */
export function rowOf(run: NewRun, startsAt: number | undefined) {
  const { id, eventId, queuedAt } = run;
  const isLate = isOverflow(eventId, queuedAt);
  return [id, run.reconcileAt, run.functionId.toWellFormed(), eventId, isLate, startsAt ?? false, ...fieldsOf(run)];
}

/** The run as create-runs.lua creates it when its first call starts immediately. */
export function startedRun(run: NewRun, startsAt: number): Run {
  const { functionId, eventId, status, attempt, queuedAt, startedAt } = RUN_FIELDS;
  return toRun(run.env, run.id, {
    ...{ [functionId]: run.functionId.toWellFormed(), [eventId]: run.eventId },
    ...{ [status]: 'Running' satisfies RunStatus, [attempt]: '0' },
    ...{ [queuedAt]: String(run.queuedAt), [startedAt]: String(startsAt) },
    ...fromFlat(fieldsOf(run)),
  });
}

/** Calls toWellFormed, because Redis cannot decode lone surrogates. */
function fieldsOf(run: NewRun): string[] {
  const { queuedAt, invoker, fromStep, owner } = run;
  // The version comes first, where create-runs.lua looks for it.
  const fields = run.pin ? [RUN_FIELDS.version, pinText(run.pin)] : [];
  fields.push(RUN_FIELDS.requestId, run.requestId);
  if (invoker) fields.push(RUN_FIELDS.invokerRun, invoker.runId, RUN_FIELDS.invokerStep, invoker.stepId.toWellFormed());
  if (run.retryOf) fields.push(RUN_FIELDS.retryOf, run.retryOf);
  if (run.replayId) fields.push(RUN_FIELDS.replay, run.replayId);
  if (run.bulkActionId) fields.push(RUN_FIELDS.bulkAction, run.bulkActionId);
  if (fromStep) fields.push(RUN_FIELDS.fromStep, fromStep.id.toWellFormed());
  if (fromStep?.input) fields.push(RUN_FIELDS.stepInput, JSON.stringify(fromStep.input));
  if (run.earlierRuns) fields.push(RUN_FIELDS.earlierRuns, run.earlierRuns.join(''));
  if (run.trace) fields.push(RUN_FIELDS.trace, run.trace);
  if (run.keys) fields.push(RUN_FIELDS.keys, JSON.stringify(run.keys));
  if (run.batch) fields.push(RUN_FIELDS.batch, run.batch.join(''));
  if (run.dueAt) fields.push(RUN_FIELDS.dueAt, String(run.dueAt));
  if (owner) {
    const { status, startedAt, checkpoint } = RUN_FIELDS;
    fields.push(status, 'Running' satisfies RunStatus, startedAt, String(queuedAt), checkpoint, `0:${owner}`);
  }
  return fields;
}

/** Fields and values that the end of a run sets. */
export function endingFields(ending: Ending, nowMs: number): (string | number)[] {
  const fields: (string | number)[] = [RUN_FIELDS.status, ending.status, RUN_FIELDS.endedAt, nowMs];
  if (ending.status === 'Completed') {
    fields.push(RUN_FIELDS.output, ending.output);
    if (ending.response) fields.push(RUN_FIELDS.response, JSON.stringify(ending.response));
  }
  if (ending.status === 'Failed') {
    fields.push(RUN_FIELDS.error, JSON.stringify(ending.error));
    const { fingerprint, uncounted } = ending;
    if (fingerprint !== undefined) fields.push(RUN_FIELDS.fingerprint, fingerprint);
    if (uncounted !== undefined) fields.push(RUN_FIELDS.uncounted, uncounted);
    if (ending.output !== undefined) fields.push(RUN_FIELDS.output, ending.output);
  }
  if (ending.status === 'Cancelled') fields.push(RUN_FIELDS.cancelReason, cancelReasonText(ending.reason));
  return fields;
}
