/** Events and runs as they are shipped, and their COPY format. */
import type { Ending } from '../model/runs/run.ts';
import { KEPT_PARTS, type KeptPart } from '../store/keys/runs.ts';
import { PARTS } from '../store/runs/run-parts.ts';
import type { CopyBuffer } from './copy-buffer.ts';
import { toText } from './database.ts';

export interface EventRow {
  env: string;
  /** Receipt, Unix milliseconds. */
  at: number;
  id: string;
  name: string;
  source: string;
  requestId: string;
  index: number;
  /** The sender's deduplication ID. */
  dedupId: string | undefined;
  duplicates: number;
  /** Decisions in Redis's format (store/flow-control/decisions.ts). */
  decisions: Buffer | undefined;
  /** JSON as it was accepted. */
  payload: string;
}

/** Parts of the run as JSON, each in the column of its name. */
export interface RunRow extends Partial<Record<KeptPart, string | undefined>> {
  env: string;
  /** Creation, Unix milliseconds. */
  at: number;
  id: string;
  functionId: string;
  eventId: string;
  /** For a batch, the IDs of all its events. */
  batch: string[] | undefined;
  status: Ending['status'];
  /** Unix milliseconds. */
  endedAt: number;
  /** Name and message of the error. */
  error: string | undefined;
  /** Fields of the run's Redis hash except the output, as a JSON object. */
  record: string;
  /** JSON. */
  output: string | undefined;
}

export const STATUS_NUMBERS = { Completed: 1, Failed: 2, Cancelled: 3 } as const satisfies Record<
  Ending['status'],
  number
>;

/** Maximum length of the searchable text of an error. */
export const ERROR_MAX = 1_000;

/** Columns of each table, in the order of COPY. */
export const EVENT_COLUMNS =
  'retention, at, id, env_id, name_id, source_id, source, request_id, index, dedup_id, duplicates, is_jsonb, decisions, payload';
const EVENT_COLUMN_COUNT = EVENT_COLUMNS.split(',').length;
export const RUN_COLUMNS = `retention, at, id, env_id, function_id, event_id, batch, status, ended_at, error, record, output, ${PARTS.join(', ')}`;
const RUN_COLUMN_COUNT = RUN_COLUMNS.split(',').length;

export interface EventNumbers {
  retention: number;
  envId: number;
  nameId: number;
  /** undefined if the source has no number. */
  sourceId: number | undefined;
}

export function writeEventRow(buffer: CopyBuffer, row: EventRow, numbers: EventNumbers): void {
  buffer
    .row(EVENT_COLUMN_COUNT)
    .smallint(numbers.retention)
    .bigint(row.at)
    .uuid(row.id)
    .integer(numbers.envId)
    .integer(numbers.nameId)
    .integer(numbers.sourceId)
    .text(numbers.sourceId === undefined ? toText(row.source) : undefined)
    .text(toText(row.requestId))
    .integer(row.index)
    .text(row.dedupId === undefined ? undefined : toText(row.dedupId))
    .integer(row.duplicates)
    .boolean(!NOT_JSONB.test(row.payload))
    .bytes(row.decisions)
    .text(row.payload);
}

export function writeRunRow(
  buffer: CopyBuffer,
  row: RunRow,
  { retention, envId, functionNumber }: { retention: number; envId: number; functionNumber: number },
): void {
  buffer
    .row(RUN_COLUMN_COUNT)
    .smallint(retention)
    .bigint(row.at)
    .uuid(row.id)
    .integer(envId)
    .integer(functionNumber)
    .uuid(row.eventId)
    .uuids(row.batch)
    .smallint(STATUS_NUMBERS[row.status])
    .bigint(row.endedAt)
    .text(row.error === undefined ? undefined : toText(row.error.slice(0, ERROR_MAX)))
    .text(row.record)
    .text(row.output);
  for (const part of PARTS) buffer.text(row[part]);
}

/** Escapes that jsonb rejects, and numbers that it may reject: https://www.postgresql.org/docs/current/datatype-json.html */
const NOT_JSONB = /\\u0000|\\ud[89a-f]|\d[eE][+-]?\d{3}/i;

/** Approximate size of a row before compression. */
export function sizeOfEvent({ payload }: EventRow): number {
  return Buffer.byteLength(payload);
}

export function sizeOfRun(row: RunRow): number {
  return [row.record, row.output, ...PARTS.map((part) => row[part])].reduce(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  );
}

/** For a run that is already archived and was shipped again, because one of its parts has changed in Redis since. */
const changing = PARTS.filter((part) => 'changesIn' in KEPT_PARTS[part]);
const changingColumns = (row: string) => changing.map((part) => `${row}.${part}`).join(', ');
export const ON_RUN_CONFLICT = `DO UPDATE SET ${changing.map((part) => `${part} = EXCLUDED.${part}`).join(', ')}
  WHERE (${changingColumns('present')}) IS DISTINCT FROM (${changingColumns('EXCLUDED')})`;
