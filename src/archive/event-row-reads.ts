/** Reads rows of archived events. */
import { type Event, type EventRecord, type RecordParts, recordOf, type Source } from '../model/events/event.ts';
import { parseStored } from '../model/values/json.ts';
import type { Conditions } from './conditions.ts';
import { fromUuid, type Row } from './database.ts';
import type { DayBatch } from './day-batches.ts';

/** An archived event, in the store's form (store/events/event-records.ts). */
export interface ArchivedEvent extends RecordParts {
  source: Source;
  /** Number of repeats received before it was archived. */
  duplicates: number;
}

/** A row of `EVENT_SELECT`. */
interface EventRead extends Row {
  at: number;
  id: string;
  request_id: string;
  index: number;
  duplicates: number;
  source: string | null;
  payload: string | null;
}

const COLUMNS = 'at, id, name_id, source_id, source, request_id, index, duplicates, payload';
const NEWEST_FIRST = 'ORDER BY at DESC, id DESC';

/** Restricts to the batch's days, so that Postgres reads no other tables. */
export function inDays(conditions: Conditions, { retention, from, to }: DayBatch): Conditions {
  return conditions.add('retention = ?', retention).add('at >= ? AND at < ?', from, to);
}

/** The newest `limit` events of an environment, or of some of its names, each read from its own index.
 *  @param columns in terms of the table
 *  @param names numbers; undefined: all */
export function newestEvents(
  conditions: Conditions,
  { names, limit, columns = COLUMNS }: { names: readonly number[] | undefined; limit: number; columns?: string },
): string {
  const limited = `${NEWEST_FIRST} LIMIT ${conditions.value(limit)}`;
  if (names === undefined) return `SELECT ${columns} FROM events WHERE ${conditions.sql} ${limited}`;
  return `SELECT e.* FROM unnest(${conditions.value(names)}::int[]) AS wanted (number) CROSS JOIN LATERAL
    (SELECT ${columns} FROM events WHERE name_id = wanted.number AND ${conditions.sql} ${limited}) e ${limited}`;
}

/** Rows of a selection with payloads up to `max` bytes in total, and at least one; other payloads are null. Sizes are known without
 *  reading the payloads. */
export function withinBytes(selection: string, conditions: Conditions, max: number): string {
  return `SELECT t.at, t.id, t.request_id, t.index, t.duplicates, coalesce(t.source, s.source) AS source,
      CASE WHEN t.place = 1 OR t.total <= ${conditions.value(max)} THEN t.payload END AS payload
    FROM (SELECT *, row_number() OVER newest AS place, sum(octet_length(payload)) OVER newest AS total
          FROM (${selection}) chosen WINDOW newest AS (${NEWEST_FIRST})) t
    LEFT JOIN event_sources s ON s.id = t.source_id ${NEWEST_FIRST.replaceAll(/\b(at|id)\b/g, 't.$1')}`;
}

/** All rows with their payloads. */
export function whole(conditions: Conditions): string {
  return `SELECT t.at, t.id, t.request_id, t.index, t.duplicates, coalesce(t.source, s.source) AS source, t.payload
    FROM (SELECT ${COLUMNS} FROM events WHERE ${conditions.sql}) t LEFT JOIN event_sources s ON s.id = t.source_id`;
}

/** The rows before the first one without its payload. */
export function eventsOf(rows: readonly Row[]): ArchivedEvent[] {
  const events: ArchivedEvent[] = [];
  for (const row of rows as EventRead[]) {
    if (row.payload === null) break;
    events.push({
      internalId: fromUuid(row.id),
      receivedAt: row.at,
      requestId: row.request_id,
      index: row.index,
      payload: row.payload,
      source: (row.source ?? '') as Source,
      duplicates: row.duplicates,
    });
  }
  return events;
}

/** The event as routes show it. */
export function foundEventOf(event: ArchivedEvent): EventRecord & { source: Source; duplicates: number } {
  return { ...recordOf(event, parseStored), source: event.source, duplicates: event.duplicates };
}

/** The name and the deduplication ID exactly as sent. */
export function sentOf({ payload }: ArchivedEvent): Pick<Event, 'name' | 'id'> {
  return JSON.parse(payload) as Event;
}
