/** Memory and disk of an installation with an archive, from the bytes of an event and a run, and the tables that show them. */
import type { ArchiveBytes, DiskBytes, RedisBytes, Results } from './results.ts';
import { formatNumber, table } from './table.ts';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;
/** How long Redis remembers the ID that a sender gave. */
const CLAIM_SECONDS = DAY_SECONDS;
const GB = 1e9;
const EVENTS_PER_SECOND = 1_000;
const HOT_HOURS = [1, 24];
const RETENTION_DAYS = [7, 30, 365];
const NO_DATA = '*These results have no such figures. Run `scripts/bench` to measure them.*';

export interface ArchiveLoad {
  eventsPerSecond: number;
  runsPerEvent: number;
}

/** Bytes that Redis needs for what is hot. */
export function hotBytes({ eventsPerSecond, runsPerEvent }: ArchiveLoad, hotHours: number, bytes: RedisBytes): number {
  return eventsPerSecond * hotHours * HOUR_SECONDS * (bytes.event.memory + runsPerEvent * bytes.run.memory);
}

/** Bytes that Redis needs for the IDs of senders, if every event has one. */
export function claimBytes({ eventsPerSecond }: ArchiveLoad, { left }: ArchiveBytes): number {
  return eventsPerSecond * CLAIM_SECONDS * left.claim;
}

/** Bytes on the disk of Postgres: the retention less the hot hours, and a day more, since days are dropped as a whole. */
export function diskBytes(
  { eventsPerSecond, runsPerEvent }: ArchiveLoad,
  { hotHours, days }: { hotHours: number; days: number },
  { event, run, decision }: ArchiveBytes,
): number {
  const seconds = (days + 1) * DAY_SECONDS - hotHours * HOUR_SECONDS;
  return eventsPerSecond * seconds * (totalOf(event) + runsPerEvent * (totalOf(run) + decision));
}

function totalOf({ table, indexes }: DiskBytes): number {
  return indexes.reduce((sum, { bytes }) => sum + bytes, table);
}

export function archiveSizesTable({ bytes, archive }: Results): string {
  if (!bytes || !archive) return NO_DATA;
  const gb = (value: number) => `${formatNumber(value / GB)} GB`;
  const lines = [0, 1].flatMap((runsPerEvent) =>
    HOT_HOURS.map((hotHours) => {
      const load = { eventsPerSecond: EVENTS_PER_SECOND, runsPerEvent };
      return [
        `${EVENTS_PER_SECOND.toLocaleString('en')} events/s${runsPerEvent ? ', a run each' : ''}`,
        `\`HOT_HOURS=${hotHours}\``,
        gb(hotBytes(load, hotHours, bytes)),
        gb(claimBytes(load, archive)),
        ...RETENTION_DAYS.map((days) => gb(diskBytes(load, { hotHours, days }, archive))),
      ];
    }),
  );
  const disks = RETENTION_DAYS.map((days) => `Postgres, ${days} days`);
  return table(['average load', 'setting', 'Redis, any retention', 'and claims of IDs', ...disks], lines);
}

export function archiveBytesTable({ archive }: Results): string {
  if (!archive) return NO_DATA;
  const { eventPayload, event, run, decision } = archive;
  const cell = (value: number) => `${formatNumber(value)} bytes`;
  const linesOf = (name: string, size: DiskBytes) => [
    [`${name}: table`, cell(size.table)],
    [`${name}: ${size.indexes.length} indexes`, cell(totalOf(size) - size.table)],
    [`**${name}: all**`, `**${cell(totalOf(size))}**`],
  ];
  return table(
    ['on the disk of Postgres', 'each'],
    [
      [`the payload of the event`, cell(eventPayload)],
      ...linesOf('event', event),
      ...linesOf('run', run),
      ['the decision about the event of a run', cell(decision)],
    ],
  );
}

export function compressionTable({ compression }: Results): string {
  if (!compression) return NO_DATA;
  const lines = compression.flatMap(({ payload, methods }) =>
    methods.map(({ name, bytes, writeUs, readUs }) => [
      `${payload.toLocaleString('en')} bytes`,
      name,
      `${formatNumber(bytes)} (${Math.round((100 * bytes) / payload)} %)`,
      `${formatNumber(writeUs)} µs`,
      `${formatNumber(readUs)} µs`,
    ]),
  );
  return table(['payload', 'compression', 'bytes stored', 'write', 'read'], lines);
}
