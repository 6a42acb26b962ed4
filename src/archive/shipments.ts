/** Writes events and runs to the archive; shipping one again changes nothing. A shipment is one transaction, by COPY. If some of the rows exist
 *  already (the archiver died after the commit, or another archiver was faster), only the other rows are added. */
import { type Source, subjectOf } from '../model/events/event.ts';
import { sum } from '../model/values/sum.ts';
import { type ArchivedDays, type DayChange, type DayTables, dayOf } from './archived-days.ts';
import { CopyBuffer } from './copy-buffer.ts';
import { addMissing, copy } from './copying.ts';
import { type Client, codeOf, Repository, UNDEFINED_TABLE, UNIQUE_VIOLATION } from './database.ts';
import { addCounts, countsOf, type NameCount } from './event-counting.ts';
import type { Numbers } from './numbers.ts';
import {
  EVENT_COLUMNS,
  type EventRow,
  ON_RUN_CONFLICT,
  RUN_COLUMNS,
  type RunRow,
  sizeOfEvent,
  sizeOfRun,
  writeEventRow,
  writeRunRow,
} from './rows.ts';

/** A shipment may take long on a busy disk. */
export const SHIPMENT_TIMEOUT_MS = 120_000;

/** The retention of an environment in days. */
export type RetentionOf = (env: string) => Promise<number>;

export interface Shipment {
  events: readonly EventRow[];
  runs: readonly RunRow[];
}

/** Rows of one day, environment and kind, which belong to one table. */
interface Part<R> {
  table: string;
  envId: number;
  retention: number;
  day: number;
  rows: readonly R[];
}

interface EventPart extends Part<EventRow> {
  nameIds: ReadonlyMap<string, number>;
  sourceIds: ReadonlyMap<string, number>;
}

interface RunPart extends Part<RunRow> {
  functionNumbers: ReadonlyMap<string, number>;
}

export class Shipments extends Repository<{
  numbers: Numbers;
  days: ArchivedDays;
  tables: DayTables;
  retentionOf: RetentionOf;
}> {
  /** Resolves when all of it is archived.
   *  @throws ServiceError archive_unavailable */
  async ship(shipment: Shipment): Promise<void> {
    try {
      await this.#ship(shipment);
    } catch (error) {
      if (codeOf(error) !== UNDEFINED_TABLE && !(error instanceof NamesRemoved)) throw error;
      // A day or a name was removed, because no row of the archive needed it any more.
      for (const part of [this.deps.numbers, this.deps.days, this.deps.tables]) part.forget();
      await this.#ship(shipment);
    }
  }

  async #ship({ events, runs }: Shipment): Promise<void> {
    const eventParts = await this.#eventParts(events);
    const runParts = await this.#runParts(runs);
    if (eventParts.length + runParts.length === 0) return;
    try {
      await this.#write(eventParts, runParts, false);
    } catch (error) {
      if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
      await this.#write(eventParts, runParts, true);
    }
  }

  async #write(eventParts: readonly EventPart[], runParts: readonly RunPart[], isRepeat: boolean): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = ${SHIPMENT_TIMEOUT_MS}`);
      await keepNames(client, eventParts);
      const changes: DayChange[] = [];
      const counts: NameCount[] = [];
      for (const part of eventParts) {
        const added = await copyEvents(client, part, isRepeat);
        changes.push(changeOf(part, 'events', added.rows.length, added.bytes));
        counts.push(...countsOf(part, added.rows));
      }
      for (const part of runParts) {
        const { rows, bytes } = await copyRuns(client, part, isRepeat);
        changes.push(changeOf(part, 'runs', rows, bytes));
      }
      await addCounts(client, this.deps.tables, counts);
      await this.deps.days.add(client, changes);
    });
  }

  async #eventParts(events: readonly EventRow[]): Promise<EventPart[]> {
    const parts: EventPart[] = [];
    for (const [env, ofEnv] of Map.groupBy(events, (row) => row.env)) {
      const envId = await this.deps.numbers.assignEnvironment(env);
      const nameIds = await this.deps.numbers.assign(
        'event_names',
        envId,
        ofEnv.map(({ name }) => name),
      );
      const sources = ofEnv.map(({ source }) => source).filter(hasNumber);
      const sourceIds = await this.deps.numbers.assign('event_sources', envId, sources);
      const wanted = await this.deps.retentionOf(env);
      for (const [day, rows] of Map.groupBy(ofEnv, ({ at }) => dayOf(at))) {
        const retention = await this.deps.days.retentionOf(envId, 'events', day, wanted);
        const table = await this.deps.tables.ensure('events', retention, day);
        await this.deps.tables.ensure('event_counts', retention, day);
        await this.deps.tables.ensure('event_name_days', retention, day);
        parts.push({ table, envId, retention, day, rows, nameIds, sourceIds });
      }
    }
    return parts;
  }

  async #runParts(runs: readonly RunRow[]): Promise<RunPart[]> {
    const parts: RunPart[] = [];
    for (const [env, ofEnv] of Map.groupBy(runs, (row) => row.env)) {
      const envId = await this.deps.numbers.assignEnvironment(env);
      const ids = ofEnv.map(({ functionId }) => functionId);
      const functionNumbers = await this.deps.numbers.assign('functions', envId, ids);
      const wanted = await this.deps.retentionOf(env);
      for (const [day, rows] of Map.groupBy(ofEnv, ({ at }) => dayOf(at))) {
        const retention = await this.deps.days.retentionOf(envId, 'runs', day, wanted);
        const table = await this.deps.tables.ensure('runs', retention, day);
        parts.push({ table, envId, retention, day, rows, functionNumbers });
      }
    }
    return parts;
  }
}

class NamesRemoved extends Error {}

/** Locks the names, so that they are not removed before the commit (unused-numbers.ts).
 *  @throws NamesRemoved */
async function keepNames(client: Client, parts: readonly EventPart[]): Promise<void> {
  const ids = [...new Set(parts.flatMap(({ nameIds }) => [...nameIds.values()]))].sort((a, b) => a - b);
  if (ids.length === 0) return;
  const found = await client.query('SELECT id FROM event_names WHERE id = ANY($1) ORDER BY id FOR KEY SHARE', [ids]);
  if (found.rows.length < ids.length) throw new NamesRemoved();
}

/** @returns the added rows */
async function copyEvents(client: Client, part: EventPart, isRepeat: boolean) {
  const { table, envId, retention, rows, nameIds, sourceIds } = part;
  const buffer = new CopyBuffer();
  let bytes = 0;
  for (const row of rows) {
    bytes += sizeOfEvent(row);
    const nameId = nameIds.get(row.name) as number;
    writeEventRow(buffer, row, { retention, envId, nameId, sourceId: sourceIds.get(row.source) });
  }
  if (!isRepeat) {
    await copy(client, table, EVENT_COLUMNS, buffer);
    return { rows, bytes };
  }
  const ids = await addMissing(client, 'events', table, EVENT_COLUMNS, buffer);
  const added = rows.filter(({ id }) => ids.has(id));
  return { rows: added, bytes: sum(added, sizeOfEvent) };
}

async function copyRuns(
  client: Client,
  { table, envId, retention, rows, functionNumbers }: RunPart,
  isRepeat: boolean,
) {
  const buffer = new CopyBuffer();
  let bytes = 0;
  for (const row of rows) {
    bytes += sizeOfRun(row);
    const functionNumber = functionNumbers.get(row.functionId) as number;
    writeRunRow(buffer, row, { retention, envId, functionNumber });
  }
  if (!isRepeat) {
    await copy(client, table, RUN_COLUMNS, buffer);
    return { rows: rows.length, bytes };
  }
  const added = await addMissing(client, 'runs', table, RUN_COLUMNS, buffer, ON_RUN_CONFLICT);
  return { rows: added.size, bytes: Math.round((bytes * added.size) / rows.length) };
}

function changeOf(
  { envId, day }: Pick<Part<unknown>, 'envId' | 'day'>,
  kind: DayChange['kind'],
  rows: number,
  bytes: number,
): DayChange {
  return { envId, kind, day, rows, bytes };
}

/** Whether the source is of a kind with few members and many events. */
function hasNumber(source: string): boolean {
  return (
    !source.includes(':') ||
    (subjectOf(source as Source, 'event-key') ?? subjectOf(source as Source, 'webhook')) !== undefined
  );
}
