/** Events and runs as they are shipped, and how COPY takes them. */
import type { Ending } from '../model/runs/run.ts';
import { KEPT_PARTS, type KeptPart } from '../store/keys/runs.ts';
import { PARTS } from '../store/runs/run-parts.ts';
import type { CopyBuffer } from './copy-buffer.ts';
import { toText } from './encoding.ts';

export interface EventRow {
  env: string;
  /** Receipt, Unix milliseconds. */
  at: number;
  id: string;
  name: string;
  source: string;
  requestId: string;
  index: number;
  /** The ID that the sender gave. */
  dedupId: string | undefined;
  duplicates: number;
  /** As in Redis (store/flow-control/decisions.ts). */
  decisions: Buffer | undefined;
  /** JSON as it was accepted. */
  payload: string;
}

/** With its parts as JSON, each in the column of its name. */
export interface RunRow extends Partial<Record<KeptPart, string | undefined>> {
  env: string;
  /** Creation, Unix milliseconds. */
  at: number;
  id: string;
  functionId: string;
  eventId: string;
  /** IDs of all its events, of the run of a batch. */
  batch: string[] | undefined;
  status: Ending['status'];
  /** Unix milliseconds. */
  endedAt: number;
  /** Name and message. */
  error: string | undefined;
  /** Fields of its hash in Redis apart from the output, as a JSON object. */
  record: string;
  /** JSON. */
  output: string | undefined;
}

export const STATUS_NUMBERS = { Completed: 1, Failed: 2, Cancelled: 3 } as const satisfies Record<
  Ending['status'],
  number
>;

/** Characters of an error by which runs are found. */
export const ERROR_MAX = 1_000;

/** The columns of a table, in the order in which COPY gets them. */
export const EVENT_COLUMNS =
  'retention, at, id, env_id, name_id, source_id, source, request_id, index, dedup_id, duplicates, is_jsonb, decisions, payload';
const EVENT_COLUMN_COUNT = EVENT_COLUMNS.split(',').length;
export const RUN_COLUMNS = `retention, at, id, env_id, function_id, event_id, batch, status, ended_at, error, record, output, ${PARTS.join(', ')}`;
const RUN_COLUMN_COUNT = RUN_COLUMNS.split(',').length;

export interface EventNumbers {
  retention: number;
  envId: number;
  nameId: number;
  /** undefined: the source has none. */
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
    .boolean(isJsonb(row.payload))
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

/** Escapes that jsonb refuses, and numbers that it might: https://www.postgresql.org/docs/current/datatype-json.html */
const NOT_JSONB = /\\u0000|\\ud[89a-f]|\d[eE][+-]?\d{3}/i;

function isJsonb(payload: string): boolean {
  return !NOT_JSONB.test(payload);
}

/** About what a row takes before compression. */
export function sizeOfEvent({ payload }: EventRow): number {
  return Buffer.byteLength(payload);
}

export function sizeOfRun(row: RunRow): number {
  return [row.record, row.output, ...PARTS.map((part) => row[part])].reduce(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  );
}

/** Where a run is archived already: it was shipped again because a part has changed in Redis since. */
const changing = PARTS.filter((part) => 'changesIn' in KEPT_PARTS[part]);
const ofRow = (row: string) => changing.map((part) => `${row}.${part}`).join(', ');
export const ON_RUN_CONFLICT = `DO UPDATE SET ${changing.map((part) => `${part} = EXCLUDED.${part}`).join(', ')}
  WHERE (${ofRow('present')}) IS DISTINCT FROM (${ofRow('EXCLUDED')})`;
