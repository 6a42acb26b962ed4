/** Fills the archive of a test bed with events of a month, and a run for some of them, by the COPY of the archiver. */
import { type Archive, createArchive } from '../src/archive/archive.ts';
import type { EventRow, RunRow } from '../src/archive/rows.ts';
import { createLog } from '../src/log.ts';
import { idOfHex } from '../src/model/ids.ts';
import { archiveEvent } from './archive-events.ts';
import { type BedArchive, HOT_HOURS, RETENTION_DAYS } from './bed-archive.ts';

const HOUR_MS = 3_600_000;
const DAYS = 30;
const SHIPMENT = 20_000;
const SHIPMENTS_AT_ONCE = 2;
/** A run for so many events. */
const EVENTS_OF_RUN = 20;
const FUNCTIONS = 10;
const ENV = 'production';

/** Events at equal intervals, up to the hot hours. */
export class LoadedEvents {
  readonly count: number;
  readonly #startMs: number;
  readonly #stepMs: number;

  constructor(count: number, nowMs: number, days = DAYS) {
    this.count = count;
    // A minute before the border, so that all are beyond it.
    const endMs = nowMs - HOT_HOURS * HOUR_MS - 60_000;
    this.#startMs = endMs - days * 24 * HOUR_MS;
    this.#stepMs = (endMs - this.#startMs) / count;
  }

  /** Receipt of the nth event. */
  at(n: number): number {
    return Math.floor(this.#startMs + n * this.#stepMs);
  }

  id(n: number): string {
    const random = Math.imul(n, 2_654_435_761) >>> 0;
    return idOfHex(hex(this.at(n), 12) + hex(n, 10) + hex(random, 10));
  }

  runId(n: number): string {
    return idOfHex(hex(this.at(n), 12) + hex(n, 10) + 'f'.repeat(10));
  }

  /** The first event that was received at a time or later. */
  firstAfter(timeMs: number): number {
    return Math.max(0, Math.ceil((timeMs - this.#startMs) / this.#stepMs));
  }
}

export async function load(bed: BedArchive, events: LoadedEvents, onProgress: (done: number) => void): Promise<void> {
  const settings = { url: bed.url, schema: bed.schema, tlsVerify: true, poolSize: SHIPMENTS_AT_ONCE, hotMs: HOUR_MS };
  const log = createLog('silent', 'bench');
  const archive = createArchive({ archive: settings }, async () => RETENTION_DAYS, log) as Archive;
  let next = 0;
  const work = async () => {
    while (next < events.count) {
      const first = next;
      next = Math.min(events.count, next + SHIPMENT);
      await archive.shipments.ship(shipmentOf(events, first, next));
      onProgress(next);
    }
  };
  await Promise.all(Array.from({ length: SHIPMENTS_AT_ONCE }, work));
  await archive.database.close();
  await bed.vacuum();
}

function shipmentOf(events: LoadedEvents, first: number, end: number): { events: EventRow[]; runs: RunRow[] } {
  const shipped = { events: [] as EventRow[], runs: [] as RunRow[] };
  for (let n = first; n < end; n++) {
    const [at, id] = [events.at(n), events.id(n)];
    const event = archiveEvent(n);
    const payload = JSON.stringify({ ...event, ts: at });
    const row = { env: ENV, at, id, name: event.name, source: 'event-key:bench', requestId: id, index: 0, payload };
    shipped.events.push({ ...row, dedupId: undefined, duplicates: 0, decisions: undefined });
    if (n % EVENTS_OF_RUN === 0) shipped.runs.push(runOf(events, n));
  }
  return shipped;
}

/** As a completed run of one call is stored. */
function runOf(events: LoadedEvents, n: number): RunRow {
  const [at, id, eventId] = [events.at(n), events.runId(n), events.id(n)];
  const functionId = `bench-fn-${(n / EVENTS_OF_RUN) % FUNCTIONS}`;
  const [q, x] = [String(at), String(at + 5)];
  const fields = { f: functionId, e: eventId, r: eventId, s: 'Completed', a: '0', q, b: q, x };
  const run = { env: ENV, at, id, functionId, eventId, status: 'Completed' as const, endedAt: at + 5 };
  const none = { batch: undefined, error: undefined, memos: undefined, stack: undefined, history: undefined };
  return { ...run, ...none, record: JSON.stringify(fields), output: 'null', metadata: undefined, logs: undefined };
}

function hex(number: number, length: number): string {
  return number.toString(16).padStart(length, '0');
}
