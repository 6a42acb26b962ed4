/** Runs that sleep or wait for long and are in Postgres meanwhile (jobs/archive/offloading.ts): Redis has the alarm of each, which says that the
 *  run is in Postgres, in which version, and when it returns. Whoever needs such a run before brings it back; lists show its row. */
import { ServiceError } from '../../errors.ts';
import type { Run } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { inPipelines, replies } from '../redis/connection.ts';
import { idsIn } from '../redis/joined-ids.ts';
import { Repository } from '../redis/repository.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { type ActiveRun, memberOf, readMember } from './active-runs.ts';

/** What lists show of a run. */
export interface OffloadedRecord {
  /** Of its hash (keys/run-fields.ts). */
  fields: Record<string, string>;
  steps: StepsReply;
}

/** What read-steps.lua returns. */
export type StepsReply = [pending: string[], count: number, done: number];

export interface OffloadedContents {
  fields: Record<string, string>;
  contents: Buffer;
}

/** A run that does nothing but sleep, as it was read. */
export interface SleepingRun extends OffloadedRecord, OffloadedContents {
  env: string;
  id: string;
  eventIds: string[];
  /** Time of its next reconciliation, Unix milliseconds, as Redis writes it. */
  alarm: string;
  /** When it returns, Unix milliseconds. */
  dueAt: number;
  /** Microseconds by the clock of Redis. */
  readAt: number;
}

/** Postgres, as far as the store needs it. */
export interface OffloadedRunSource {
  /** Brings runs back.
   *  @param latestMs latest time of their next reconciliations
   *  @throws ServiceError archive_unavailable */
  bringBack(env: string, ids: readonly string[], latestMs: number): Promise<unknown>;
  /** @throws ServiceError archive_unavailable */
  records(env: string, ids: readonly string[]): Promise<Map<string, OffloadedRecord>>;
}

export type Returned = 'returned' | 'changed' | 'deleted';

const RETURNED: Record<string, Returned> = { '1': 'returned', '0': 'changed', '-1': 'deleted' };

/** Fields that lists do not show, and packed steps, which are not text. */
const HIDDEN = new Set<string>([RUN_FIELDS.output, RUN_FIELDS.stepInput, RUN_FIELDS.packed]);
const FIELDS = Object.values(RUN_FIELDS).filter((field) => !HIDDEN.has(field));

/** Maximum bytes of a run that is offloaded: a script that blocks Redis writes all of it. */
const BYTES_MAX = 262_144;

type SleepingReply = [
  alarm: Buffer,
  readAt: Buffer,
  contents: Buffer,
  pending: Buffer[],
  done: number,
  fields: (Buffer | null)[],
];

export class OffloadedRuns extends Repository<ScriptedRedis, { reconcileAfterMs: number }> {
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

  /** Which of the runs are offloaded. */
  async which(env: string, ids: readonly string[]): Promise<Set<string>> {
    const commands = ids.map((id) => ['zscore', this.keys.of(id).offloadedRuns, memberOf(env, id)]);
    const alarms = await inPipelines<string | null>(this.redis, commands);
    return new Set(ids.filter((_, i) => alarms[i] !== null));
  }

  /** Brings those of the runs back that are offloaded, for whoever did not find them. They stay at least until their next reconciliation.
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

  /** What lists show of those that are offloaded, by ID.
   *  @throws ServiceError archive_unavailable */
  async records(env: string, ids: readonly string[]): Promise<Map<string, OffloadedRecord>> {
    if (!this.#source || ids.length === 0) return new Map();
    const offloaded = [...(await this.which(env, ids))];
    return offloaded.length === 0 ? new Map() : this.#source.records(env, offloaded);
  }

  async count(): Promise<number> {
    const counts = await inPipelines<number>(
      this.redis,
      this.keys.all().map(({ offloadedRuns }) => ['zcard', offloadedRuns]),
    );
    return counts.reduce((all, one) => all + one, 0);
  }

  /** When the alarm that is due first was set to; undefined: there is none. */
  async firstDueAt(): Promise<number | undefined> {
    const first = await inPipelines<string[]>(
      this.redis,
      this.keys.all().map(({ offloadedRuns }) => ['zrange', offloadedRuns, 0, 0, 'WITHSCORES']),
    );
    const times = first.flatMap(([, at]) => (at === undefined ? [] : [Number(at)]));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Runs of a partition that must return, longest due first. */
  async due(partition: number, nowMs: number, limit: number): Promise<ActiveRun[]> {
    const { offloadedRuns } = this.keys.partition(partition);
    return (await this.redis.zrangebyscore(offloadedRuns, '-inf', nowMs, 'LIMIT', 0, limit)).map(readMember);
  }

  /** Sets the alarm of a run later, by whole milliseconds: its fraction is the version. */
  async postpone({ env, runId }: ActiveRun, byMs: number): Promise<void> {
    const { offloadedRuns } = this.keys.of(runId);
    const member = memberOf(env, runId);
    if ((await this.redis.zscore(offloadedRuns, member)) !== null) {
      await this.redis.zadd(offloadedRuns, 'XX', 'INCR', Math.ceil(byMs), member);
    }
  }

  /** Runs of a partition whose next reconciliation is after a time: those that sleep for long. */
  async candidates(partition: number, fromMs: number, offset: number, limit: number): Promise<ActiveRun[]> {
    const { activeRuns } = this.keys.partition(partition);
    return (await this.redis.zrangebyscore(activeRuns, `(${fromMs}`, '+inf', 'LIMIT', offset, limit)).map(readMember);
  }

  /** Those of the runs of a partition that do nothing but sleep or wait until this time, and how they are.
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
   *  @returns how many were removed */
  async remove(runs: readonly SleepingRun[]): Promise<number> {
    if (runs.length === 0) return 0;
    const pipeline = this.redis.pipeline();
    for (const { env, id, contents, alarm, dueAt } of runs) {
      const { run, activeRuns, offloadedRuns } = this.keys.of(id);
      pipeline.offloadRun(run(env, id), activeRuns, offloadedRuns, memberOf(env, id), contents, alarm, dueAt);
    }
    return replies<number>(await pipeline.exec()).reduce((all, one) => all + one, 0);
  }

  /** Stores a run again.
   *  @param isAnyVersion whether the contents may differ from those that its alarm names */
  async return(env: string, id: string, contents: Buffer, latestMs: number, isAnyVersion = false): Promise<Returned> {
    const { run, activeRuns, offloadedRuns } = this.keys.of(id);
    const args = [memberOf(env, id), contents, latestMs, isAnyVersion ? 1 : ''];
    return RETURNED[String(await this.redis.returnRun(run(env, id), activeRuns, offloadedRuns, ...args))] as Returned;
  }
}

/** Whether Postgres cannot be asked now. */
export function isAway(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'archive_unavailable';
}

/** IDs of all events of a run. */
export function eventsOf({ fields }: Pick<OffloadedRecord, 'fields'>): string[] {
  const batch = fields[RUN_FIELDS.batch];
  return batch ? idsIn(batch) : [fields[RUN_FIELDS.eventId] as string];
}

export function queuedAtOf({ fields }: Pick<OffloadedRecord, 'fields'>): Run['queuedAt'] {
  return Number(fields[RUN_FIELDS.queuedAt]);
}

function toSleepingRun({ env, runId: id }: ActiveRun, reply: SleepingReply, leadMs: number): SleepingRun {
  const [alarm, readAt, contents, pending, done, values] = reply;
  const fields: Record<string, string> = {};
  for (const [i, value] of values.entries()) if (value !== null) fields[FIELDS[i] as string] = value.toString();
  return {
    env,
    id,
    eventIds: eventsOf({ fields }),
    alarm: alarm.toString(),
    dueAt: Number(alarm) - leadMs,
    readAt: Number(readAt),
    contents,
    fields,
    steps: [pending.map(String), pending.length / 2, done],
  };
}
