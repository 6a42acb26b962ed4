/** Bytes of an archived event and of an archived run on the disk of Postgres, by table and index, and what Redis keeps of them. */
import { randomUUID } from 'node:crypto';
import { archiveEvent, PAYLOAD_BYTES } from '../archive-events.ts';
import type { ArchiveTable, TableSize } from '../bed-archive.ts';
import type { Measurement } from '../bench.ts';
import { moveAll, store } from '../moving.ts';
import type { ArchiveBytes, DiskBytes } from '../results.ts';
import type { TestBed } from '../test-bed.ts';
import { redisUsage } from './memory.ts';

/** Events per second of a round. */
const EVENTS = 8_000;
/** Lists of a bounded length, such as the events of queues, are full after these. */
const WARM_UP_EVENTS = 8_000;
const RUN_EVENT = 'bench/run';
const EVENT_WORK = 'archived: an event on disk';
const RUN_WORK = 'archived: a run on disk';
const LEFT_WORK = 'archived: left in Redis of an event';
const LEFT_RUN_WORK = 'archived: left in Redis of an event with a run';
const CLAIM_WORK = 'archived: left in Redis of an event with an ID of its sender, for 24 hours';
/** Nothing grows with the number of events; a few lists of a bounded length may not be full yet. */
const LEFT_MAX = 5;
const group = 'archive-bytes';

export const archiveBytes: Measurement = {
  group,
  names: [EVENT_WORK, RUN_WORK, LEFT_WORK, LEFT_RUN_WORK, CLAIM_WORK],
  measure: (bench) =>
    bench.withTestBed({ archive: true }, async (testBed) => {
      await testBed.service.register('bench', [{ id: 'run', event: RUN_EVENT }]);
      const count = EVENTS * bench.options.seconds;
      // What does not depend on the number of events is there first.
      await left(testBed, WARM_UP_EVENTS, (n) => archiveEvent(n, RUN_EVENT));
      const [run, ofRuns] = await left(testBed, count, (n) => archiveEvent(n, RUN_EVENT));
      const [event, ofEvents] = await left(testBed, count, (n) => archiveEvent(n));
      // Last: what stays makes the table of all keys larger, which is no cost of the others.
      const [claim] = await left(testBed, count, (n) => ({ ...archiveEvent(n), id: randomUUID() }));
      const archive: ArchiveBytes = {
        eventPayload: PAYLOAD_BYTES,
        event: perRow(ofEvents.events),
        run: perRow(ofRuns.runs),
        decision: perRow(ofRuns.events).table - perRow(ofEvents.events).table,
        left: { event, claim, run },
      };
      const row = { group, unit: 'bytes', references: [], targets: [] } as const;
      const most = [{ most: LEFT_MAX }];
      const payload = [{ what: 'its payload', value: PAYLOAD_BYTES }];
      return {
        rows: [
          { ...row, work: EVENT_WORK, value: total(archive.event), references: payload, targets: [] },
          { ...row, work: RUN_WORK, value: total(archive.run) + archive.decision, references: [], targets: [] },
          { ...row, work: LEFT_WORK, value: event, references: [], targets: most },
          { ...row, work: LEFT_RUN_WORK, value: run, references: [], targets: most },
          { ...row, work: CLAIM_WORK, value: claim, references: [], targets: [] },
        ],
        costs: [],
        series: [],
        archive,
      };
    }),
};

/** @returns bytes in Redis per event that was stored and moved, and the size of the archive, which has nothing else */
async function left(
  testBed: TestBed,
  count: number,
  event: (n: number) => object,
): Promise<[bytes: number, Record<ArchiveTable, TableSize>]> {
  const { archive } = testBed;
  await archive.empty();
  const before = await redisUsage(testBed);
  await store(testBed, count, event);
  await moveAll(testBed, count);
  const after = await redisUsage(testBed);
  await archive.vacuum();
  const sizes = { events: await archive.sizeOf('events'), runs: await archive.sizeOf('runs') };
  return [(after.memory - before.memory) / count, sizes];
}

function perRow({ rows, table, indexes }: TableSize): DiskBytes {
  return { table: table / rows, indexes: indexes.map(({ columns, bytes }) => ({ columns, bytes: bytes / rows })) };
}

function total({ table, indexes }: DiskBytes): number {
  return indexes.reduce((sum, { bytes }) => sum + bytes, table);
}
