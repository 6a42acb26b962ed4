/** Converts an ended run to a row and back. The run's Redis hash is stored unchanged, so an archived run reads exactly like a hot one. */
import type { Ending, Run } from '../model/runs/run.ts';
import { RUN_FIELDS } from '../store/keys/run-fields.ts';
import type { KeptPart } from '../store/keys/runs.ts';
import type { RunContents } from '../store/runs/archivable-runs.ts';
import { codecOf, PARTS, type PartContents } from '../store/runs/run-parts.ts';
import { toRun } from '../store/runs/run-record.ts';
import { ERROR_MAX, type RunRow, STATUS_NUMBERS } from './rows.ts';

/** @throws Error if the run has not ended */
export function runRowOf({ env, id, fields, version: _, ...parts }: RunContents): RunRow {
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
    ...Object.fromEntries(PARTS.map((part) => [part, textOf(part, parts[part])])),
  };
}

/** @param output null if the run has no output, or it was not read */
export function runOfRow(env: string, id: string, { record, output }: { record: string; output: string | null }): Run {
  const fields = JSON.parse(record) as Record<string, string>;
  if (output !== null) fields[RUN_FIELDS.output] = output;
  return toRun(env, id, fields);
}

/** The run as lists show it: without output and step input. */
export function listedRunOfRow(env: string, id: string, { record }: { record: string }): Run {
  const { [RUN_FIELDS.stepInput]: _, ...fields } = JSON.parse(record) as Record<string, string>;
  return toRun(env, id, fields);
}

function textOf<Part extends KeptPart>(part: Part, contents: PartContents[Part]): string | undefined {
  const archived = codecOf(part).archived(contents);
  return archived && JSON.stringify(archived);
}
