/** Runs that sleep or wait for long and are stored in Postgres meanwhile (jobs/archive/offloading.ts). Redis keeps
 *  an alarm for each: which version Postgres has, and when the run returns. Writers bring the run back first;
 *  readers read its row. */
import { chunksOf } from '../../model/values/chunks.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { inPipelines, replies } from '../redis/connection/connection.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import type { Position, TimeRange } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';
import { type ActiveRun, memberOf, readMember } from './active-runs.ts';
import {
  eventsOf,
  type OffloadedContents,
  type OffloadedParts,
  type OffloadedRecord,
  type OffloadedRunSource,
  queuedAtOf,
  type SleepingRun,
} from './offloaded-run.ts';

export type Returned = 'returned' | 'changed' | 'deleted';

const RETURNED: Record<string, Returned> = { '1': 'returned', '0': 'changed', '-1': 'deleted' };

/** Fields that lists do not show, and packed steps, which are not text. */
const HIDDEN = new Set<string>([RUN_FIELDS.output, RUN_FIELDS.stepInput, RUN_FIELDS.packed]);
const FIELDS = Object.values(RUN_FIELDS).filter((field) => !HIDDEN.has(field));

const READ_AT_ONCE = 25;

/** The time in an alarm (lua/lib/run-contents.lua). */
const ALARM_TIME_LENGTH = 11;

/** Maximum bytes of a run that is offloaded: a script that blocks Redis writes all of it. */
const BYTES_MAX = 262_144;

type SleepingReply = [
  reconcileAt: Buffer,
  readAt: Buffer,
  contents: Buffer,
  pending: Buffer[],
  done: number,
  fields: (Buffer | null)[],
];

export class OffloadedRuns extends Repository<ScriptedRedis, { reconcileAfterMs: number; keyPrefix: string }> {
  /** undefined without an archive. */
  #source: OffloadedRunSource | undefined;

  /** Called once, when the process has an archive. */
  readFrom(source: OffloadedRunSource): void {
    this.#source = source;
  }

  /** Whether a run that is not found may be offloaded. */
  get mayExist(): boolean {
    return this.#source !== undefined;
  }

  /** IDs of the runs that are offloaded. */
  async which(env: string, ids: readonly string[]): Promise<Set<string>> {
    const commands = ids.map((id) => ['hexists', this.keys.of(id).offloadedRuns(env), id]);
    const found = await inPipelines<number>(this.redis, commands);
    return new Set(ids.filter((_, i) => found[i] === 1));
  }

  /** The times at which offloaded runs return, by ID; Unix milliseconds. Other runs are left out. */
  async alarms(env: string, ids: readonly string[]): Promise<Map<string, number>> {
    const commands = ids.map((id) => ['hget', this.keys.of(id).offloadedRuns(env), id]);
    const found = await inPipelines<string | null>(this.redis, commands);
    return new Map(
      ids.flatMap((id, i) => (found[i] ? [[id, Number.parseInt(found[i].slice(0, ALARM_TIME_LENGTH), 16)]] : [])),
    );
  }

  /** Brings offloaded runs back, for a caller that changes them next. They stay at least until their next reconciliation.
   *  @returns whether to look again: they are back, or came back a moment ago
   *  @throws ServiceError archive_unavailable */
  async bringBack(env: string, ids: readonly string[]): Promise<boolean> {
    if (!this.#source || ids.length === 0) return false;
    const offloaded = [...(await this.which(env, ids))];
    if (offloaded.length > 0) {
      await this.#source.bringBack(env, offloaded, Date.now() + this.deps.reconcileAfterMs);
    }
    return true;
  }

  /** The data of offloaded runs that lists show, by ID. Other runs are left out.
   *  @throws ServiceError archive_unavailable */
  async records(env: string, ids: readonly string[]): Promise<Map<string, OffloadedRecord>> {
    if (!this.#source || ids.length === 0) return new Map();
    const offloaded = [...(await this.which(env, ids))];
    return offloaded.length === 0 ? new Map() : this.#source.records(env, offloaded);
  }

  /** All data of offloaded runs, by ID. Other runs are left out.
   *  @throws ServiceError archive_unavailable */
  async parts(env: string, ids: readonly string[]): Promise<Map<string, OffloadedParts>> {
    const found = new Map<string, OffloadedParts>();
    if (!this.#source || ids.length === 0) return found;
    for (const some of chunksOf([...(await this.which(env, ids))], READ_AT_ONCE)) {
      const rows = await this.#source.contents(env, some);
      await Promise.all(
        [...rows].map(async ([id, { contents }]) => {
          const read = await this.redis.readContents(this.keys.of(id).run(env, id), contents);
          found.set(id, toParts(read as (string | string[])[]));
        }),
      );
    }
    return found;
  }

  /** The next offloaded runs of an environment, or of some functions, in the list of active runs. Some may have returned, or be gone.
   *  @param functionIds undefined: all functions
   *  @throws ServiceError archive_unavailable */
  async newest(
    env: string,
    functionIds: readonly string[] | undefined,
    timeRange: TimeRange,
    limit: number,
  ): Promise<Position[]> {
    if (!this.#source || (await this.countIn(env)) === 0) return [];
    return this.#source.newest(env, functionIds, timeRange, limit);
  }

  async countIn(env: string): Promise<number> {
    const commands = this.keys.all().map(({ offloadedRuns }) => ['hlen', offloadedRuns(env)]);
    return (await inPipelines<number>(this.redis, commands)).reduce((all, count) => all + count, 0);
  }

  /** Runs of a partition whose next reconciliation is after a time: they sleep for long. */
  async sleeping(partition: number, fromMs: number, offset: number, limit: number): Promise<ActiveRun[]> {
    const { activeRuns } = this.keys.partition(partition);
    return (await this.redis.zrangebyscore(activeRuns, `(${fromMs}`, '+inf', 'LIMIT', offset, limit)).map(readMember);
  }

  /** Reads the runs of a partition that do nothing but sleep or wait until this time.
   *  @param leadMs how long before their next reconciliation they return */
  async read(runs: readonly ActiveRun[], untilMs: number, leadMs: number): Promise<SleepingRun[]> {
    if (runs.length === 0) return [];
    const pipeline = this.redis.pipeline() as unknown as Record<string, (...args: unknown[]) => unknown> & {
      exec(): Promise<[Error | null, unknown][] | null>;
    };
    for (const { env, runId } of runs) {
      const { run, activeRuns } = this.keys.of(runId);
      pipeline.readSleepingRunBuffer?.(
        run(env, runId),
        activeRuns,
        memberOf(env, runId),
        untilMs,
        BYTES_MAX,
        ...FIELDS,
      );
    }
    const found = replies<SleepingReply | []>(await pipeline.exec());
    return found.flatMap((reply, i) =>
      reply.length === 0 ? [] : [toSleepingRun(runs[i] as ActiveRun, reply, leadMs)],
    );
  }

  /** Removes runs of a partition that Postgres has, unless they have changed.
   *  @returns IDs of the runs that were removed */
  async remove(runs: readonly SleepingRun[]): Promise<Set<string>> {
    if (runs.length === 0) return new Set();
    const pipeline = this.redis.pipeline();
    for (const { env, id, fields, contents, reconcileAt, dueAt } of runs) {
      const { keys, functionId } = this.#keysOf(env, id, fields);
      pipeline.offloadRun(...keys, id, functionId, memberOf(env, id), contents, reconcileAt, dueAt);
    }
    const removed = replies<number>(await pipeline.exec());
    return new Set(runs.filter((_, i) => removed[i] === 1).map(({ id }) => id));
  }

  /** Stores a run again.
   *  @param isAnyVersion whether the contents may have another version than its alarm names */
  async return(
    env: string,
    id: string,
    row: OffloadedContents,
    latestMs: number,
    isAnyVersion = false,
  ): Promise<Returned> {
    const { keys, functionId } = this.#keysOf(env, id, row.fields);
    const args = [id, functionId, queuedAtOf(row), memberOf(env, id), row.contents, latestMs, isAnyVersion ? 1 : ''];
    const prefixes = [`${this.deps.keyPrefix}:`, `${this.keys.partition(0).prefix}:`];
    return RETURNED[String(await this.redis.returnRun(...keys, ...args, ...prefixes))] as Returned;
  }

  /** Keys as offload-run.lua and return-run.lua take them. */
  #keysOf(env: string, id: string, fields: OffloadedRecord['fields']) {
    const functionId = fields[RUN_FIELDS.functionId] as string;
    const { run, activeRuns, activeRunsIn, runIndex, offloadedRuns, offloadedRunsByFunction } = this.keys.of(id);
    const lists = [activeRuns, activeRunsIn(env), runIndex(env, 'active', functionId)] as const;
    return {
      keys: [run(env, id), ...lists, offloadedRuns(env), offloadedRunsByFunction(env)] as const,
      functionId,
    };
  }
}

function toParts(reply: readonly (string | string[])[]): OffloadedParts {
  return new Map(
    Array.from({ length: reply.length / 2 }, (_, n) => [reply[2 * n] as string, reply[2 * n + 1] as string[]] as const),
  );
}

function toSleepingRun({ env, runId: id }: ActiveRun, reply: SleepingReply, leadMs: number): SleepingRun {
  const [reconcileAt, readAt, contents, pending, done, values] = reply;
  const fields: Record<string, string> = {};
  for (const [i, value] of values.entries()) if (value !== null) fields[FIELDS[i] as string] = value.toString();
  return {
    env,
    id,
    eventIds: eventsOf({ fields }),
    reconcileAt: reconcileAt.toString(),
    dueAt: Number(reconcileAt) - leadMs,
    readAt: Number(readAt),
    contents,
    fields,
    steps: [pending.map(String), pending.length / 2, done],
  };
}
