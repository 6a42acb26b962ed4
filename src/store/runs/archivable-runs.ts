/** Ended runs on their way to the archive: reads all their data in Redis, and removes it once archived. */
import type { Ending, RunStatus } from '../../model/runs/run.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { MINUTE_MS } from '../../model/values/time.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { KEPT_PARTS, SEGMENT_LENGTHS_MS } from '../keys/runs.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { fromFlat } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import { PARTS, type PartContents } from './run-parts.ts';

/** A run that is not archived now. */
export interface KeptRun {
  id: string;
  status: RunStatus;
  /** Unix milliseconds. */
  queuedAt: number;
}

/** All data of a run in Redis. */
export interface RunContents extends PartContents {
  env: string;
  id: string;
  fields: Record<string, string>;
  /** A text that changes with the parts of the run. */
  version: string;
}

/** Result of reading some runs. */
export interface RunPortion {
  /** Number of runs examined. */
  count: number;
  due: RunContents[];
  kept: KeptRun[];
}

/** Maximum runs and bytes per script, which blocks Redis meanwhile. */
const READ_AT_ONCE = 100;
const READ_BYTES = 2 * 1_048_576;
const FREED_AT_ONCE = 200;
const AT_ONCE = 500;
const ID_LENGTH = 26;
/** A segment with fewer entries has room, so there are no shorter segments (ended-run-index.ts). */
const SEGMENT_SIZE_MIN = 512;

/** A run in the reply of read-ended-runs.lua. */
type ReadRun = [status?: RunStatus, queuedAt?: string, fields?: string[], version?: string, ...contents: string[][]];

export class ArchivableRuns extends Repository {
  /** Reads the first of the runs that have ended, were created before a time, and belong to the event. Runs that Redis does not have are
   *  omitted. */
  async read(env: string, runs: readonly { id: string; eventId: string }[], before: number): Promise<RunPortion> {
    const [first] = runs;
    if (!first) return { count: 0, due: [], kept: [] };
    // Other events of a batch may be in other partitions.
    const keys = this.keys.of(first.id);
    const other = runs.findIndex(({ id }) => this.keys.of(id) !== keys);
    const some = runs.slice(0, Math.min(READ_AT_ONCE, other === -1 ? runs.length : other));
    const args = [before, READ_BYTES, ...some.flatMap(({ id, eventId }) => [id, eventId])];
    const found = (await this.redis.readEndedRuns(keys.run(env, ''), ...args)) as ReadRun[];
    const portion: RunPortion = { count: found.length, due: [], kept: [] };
    for (const [i, [status, queuedAt, fields, version = '', ...contents]] of found.entries()) {
      const { id } = some[i] as { id: string };
      if (status === undefined) continue;
      if (!fields) portion.kept.push({ id, status, queuedAt: Number(queuedAt) });
      else portion.due.push({ env, id, fields: fromFlat(fields), version, ...partsOf(contents) });
    }
    return portion;
  }

  /** Removes archived runs, unless their metadata or log has changed since they were read.
   *  @returns IDs of the runs that stay */
  async free(env: string, runs: readonly RunContents[]): Promise<string[]> {
    const staying: string[] = [];
    const byIndex = Map.groupBy(runs, ({ id, fields }) => {
      const { [RUN_FIELDS.status]: status, [RUN_FIELDS.functionId]: functionId } = fields;
      return this.keys.of(id).runIndex(env, status as Ending['status'], functionId as string);
    });
    for (const [index, ofIndex] of byIndex) {
      const [first] = ofIndex as [RunContents];
      const prefix = this.keys.of(first.id).run(env, '');
      for (const some of chunksOf(ofIndex, FREED_AT_ONCE)) {
        const args = some.flatMap(({ id, version }) => [id, version]);
        staying.push(...((await this.redis.freeRuns(index, prefix, ...args)) as string[]));
      }
    }
    return staying;
  }

  /** Removes the oldest minutes without runs in Redis from the index of ended runs, up to a time.
   *  @returns the examined minutes */
  async freeMinutes(
    partition: number,
    env: string,
    ending: Ending['status'],
    { from, upTo, limit }: { from: number; upTo: number; limit: number },
  ): Promise<number[]> {
    const keys = this.keys.partition(partition);
    const minutesKey = keys.endedRunMinutes(env, ending);
    const minutes = await this.redis.zrangebyscore(minutesKey, from, `(${upTo}`, 'LIMIT', 0, limit);
    for (const minute of minutes.map(Number)) {
      const { segments, entries } = await this.#segments((segment) => keys.endedRuns(env, ending, segment), minute);
      const ids = entries.flat().map((entry) => entry.slice(0, ID_LENGTH));
      if (await this.#areAny(env, ids)) continue;
      const used = segments.flatMap((key, i) => {
        const length = (entries[i] as string[]).length;
        return length > 0 ? [{ key, length }] : [];
      });
      await this.redis.freeEndedMinute(
        1 + used.length,
        minutesKey,
        ...used.map(({ key }) => key),
        minute,
        ...used.map(({ length }) => length),
      );
    }
    return minutes.map(Number);
  }

  /** The segments of a minute with their entries, shortest first. Most minutes have one. */
  async #segments(
    keyOf: (segment: string) => string,
    minute: number,
  ): Promise<{ segments: string[]; entries: string[][] }> {
    const longest = keyOf(`${MINUTE_MS}:${minute}`);
    const ofLongest = await this.redis.lrange(longest, 0, -1);
    if (ofLongest.length < SEGMENT_SIZE_MIN) return { segments: [longest], entries: [ofLongest] };
    const segments = segmentsOf(minute).map(keyOf);
    const commands = segments.map((key) => ['lrange', key, 0, -1]);
    return { segments, entries: await inPipelines<string[]>(this.redis, commands) };
  }

  async #areAny(env: string, ids: readonly string[]): Promise<boolean> {
    for (const some of chunksOf(ids, AT_ONCE)) {
      const byPartition = Map.groupBy(some, (id) => this.keys.of(id));
      const commands = [...byPartition].map(([keys, ofOne]) => ['exists', ...ofOne.map((id) => keys.run(env, id))]);
      const counts = await inPipelines<number>(this.redis, commands);
      if (counts.some((count) => count > 0)) return true;
    }
    return false;
  }
}

/** The segments of a minute, shortest first. */
function segmentsOf(minute: number): string[] {
  return SEGMENT_LENGTHS_MS.toReversed().flatMap((length) =>
    Array.from({ length: MINUTE_MS / length }, (_, i) => `${length}:${minute + i * length}`),
  );
}

/** @param contents in the order of PARTS */
function partsOf(contents: string[][]): PartContents {
  const parts = PARTS.map((part, i) => {
    const all = contents[i] as string[];
    return [part, KEPT_PARTS[part].type === 'list' ? all : fromFlat(all)];
  });
  return Object.fromEntries(parts) as PartContents;
}
