/** Parts of runs that are kept after their end (keys/runs.ts declares them): their form in Redis, their form in the
 *  archive, and the form in which they are read. */
import { KEPT_PARTS, type KeptPart, RUN_SUFFIXES } from '../keys/runs.ts';
import { fromFlat, type ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import { decodeHistoryEntry } from './history-entries.ts';
import { toMetadata } from './metadata-fields.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';
import { type StoredRunLog, storedRunLog, toRunLog } from './run-log-fields.ts';
import { toMemos } from './run-record.ts';

/** Parts that a packed run keeps in its own hash (lua/lib/packed-run.lua). */
const PACKED: ReadonlySet<KeptPart> = new Set(['memos', 'stack', 'history']);

export const PARTS = Object.keys(KEPT_PARTS) as KeptPart[];

type Fields = Readonly<Record<string, string>>;
type Entries = readonly string[];

/** All that Redis has of each part: the fields of a hash, or the entries of a list. */
export type PartContents = {
  readonly [Part in KeptPart]: (typeof KEPT_PARTS)[Part]['type'] extends 'list' ? Entries : Fields;
};

interface Codec<Contents, Archived, Value> {
  /** The part as JSON from the archive; undefined if the run has no such part. */
  archived(contents: Contents): Archived | undefined;
  read(archived: Archived | undefined): Value;
}

const CODECS = {
  memos: fields(toMemos),
  stack: entries((ids) => ids),
  history: entries((texts) => texts.map(decodeHistoryEntry)),
  metadata: fields(toMetadata),
  logs: {
    archived(contents: Fields) {
      const log = storedRunLog(contents);
      return log.lines.length > 0 || log.dropped > 0 ? log : undefined;
    },
    read: (log: StoredRunLog = { lines: [], dropped: 0 }) => toRunLog(log),
  },
} satisfies { [Part in KeptPart]: Codec<PartContents[Part], object, unknown> };

export type PartValue<Part extends KeptPart> = ReturnType<(typeof CODECS)[Part]['read']>;
export type ArchivedPart<Part extends KeptPart> = NonNullable<ReturnType<(typeof CODECS)[Part]['archived']>>;

export function codecOf<Part extends KeptPart>(part: Part) {
  return CODECS[part] as unknown as Codec<PartContents[Part], ArchivedPart<Part>, PartValue<Part>>;
}

export class RunParts extends Repository<ScriptedRedis, { offloadedRuns: OffloadedRuns }> {
  async read<Part extends KeptPart>(env: string, runId: string, part: Part): Promise<PartValue<Part>> {
    return codecOf(part).read(await this.find(env, runId, part));
  }

  /** The part in the archive's form; undefined: the run has no such part.
   *  @throws ServiceError archive_unavailable */
  async find<Part extends KeptPart>(env: string, runId: string, part: Part): Promise<ArchivedPart<Part> | undefined> {
    const codec = codecOf(part);
    const find = async () => codec.archived((await this.#contents(env, runId, part)) as PartContents[Part]);
    const found = await find();
    const { offloadedRuns } = this.deps;
    if (found !== undefined || !offloadedRuns.mayExist) return found;
    const offloaded = (await offloadedRuns.parts(env, [runId])).get(runId);
    // The run may have come back a moment ago.
    if (!offloaded) return find();
    const values = offloaded.get(RUN_SUFFIXES[part]) ?? [];
    return codec.archived((isList(part) ? values : fromFlat(values)) as PartContents[Part]);
  }

  async #contents(env: string, runId: string, part: KeptPart): Promise<Fields | Entries> {
    const keys = this.keys.of(runId);
    if (!PACKED.has(part)) return this.redis.hgetall(keys[part](env, runId));
    const args = [keys.run(env, runId), RUN_SUFFIXES[part], ...(isList(part) ? [0] : [])];
    const read = (await this.redis.readPart(...args)) as string[];
    return isList(part) ? read : fromFlat(read);
  }
}

function isList(part: KeptPart): boolean {
  return KEPT_PARTS[part].type === 'list';
}

function fields<Value>(read: (fields: Fields) => Value): Codec<Fields, Fields, Value> {
  return {
    archived: (contents) => (Object.keys(contents).length > 0 ? contents : undefined),
    read: (archived = {}) => read(archived),
  };
}

function entries<Value>(read: (entries: Entries) => Value): Codec<Entries, Entries, Value> {
  return {
    archived: (contents) => (contents.length > 0 ? contents : undefined),
    read: (archived = []) => read(archived),
  };
}
