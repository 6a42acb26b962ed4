/** An ended run as a row, and back: the hash of the run in Redis stays as it is, so an archived run reads exactly as a hot one. */
import type { Ending, Run } from '../model/runs/run.ts';
import { RUN_FIELDS } from '../store/keys/run-fields.ts';
import type { StoredRunLog } from '../store/runs/run-log-fields.ts';
import { toRun } from '../store/runs/run-record.ts';
import { ERROR_MAX, type RunRow, STATUS_NUMBERS } from './rows.ts';

/** What Redis has of an ended run: hashes, and lists with all of their entries. */
export interface StoredRun {
  env: string;
  id: string;
  fields: Record<string, string>;
  memos: Record<string, string>;
  stack: readonly string[];
  history: readonly string[];
  metadata: Record<string, string>;
  logs: StoredRunLog;
}

/** @throws Error if the run has not ended */
export function runRowOf({ env, id, fields, memos, stack, history, metadata, logs }: StoredRun): RunRow {
  const { [RUN_FIELDS.output]: output, ...record } = fields;
  const { status, error, queuedAt, endedAt, functionId, eventId, batch } = toRun(env, id, record);
  if (!(status in STATUS_NUMBERS)) throw new Error(`the run ${id} is ${status}`);
  return {
    env,
    id,
    at: queuedAt,
    functionId,
    eventId,
    batch,
    status: status as Ending['status'],
    endedAt: endedAt ?? queuedAt,
    error: error && `${error.name}: ${error.message}`.slice(0, ERROR_MAX),
    record: JSON.stringify(record),
    output,
    memos: objectText(memos),
    stack: listText(stack),
    history: listText(history),
    metadata: objectText(metadata),
    logs: logs.lines.length > 0 || logs.dropped > 0 ? JSON.stringify(logs) : undefined,
  };
}

/** @param output null: it has none, or it was not read */
export function runOfRow(env: string, id: string, { record, output }: { record: string; output: string | null }): Run {
  const fields = JSON.parse(record) as Record<string, string>;
  if (output !== null) fields[RUN_FIELDS.output] = output;
  return toRun(env, id, fields);
}

/** The run as lists have it: without its output and the input of a step. */
export function listedRunOfRow(env: string, id: string, { record }: { record: string }): Run {
  const { [RUN_FIELDS.stepInput]: _, ...fields } = JSON.parse(record) as Record<string, string>;
  return toRun(env, id, fields);
}

function objectText(fields: Record<string, string>): string | undefined {
  return Object.keys(fields).length === 0 ? undefined : JSON.stringify(fields);
}

function listText(entries: readonly string[]): string | undefined {
  return entries.length === 0 ? undefined : JSON.stringify(entries);
}
