/** Bulk operations of one kind: their definition, progress and results, and when each is due. */
import { ServiceError } from '../../errors.ts';
import {
  type BulkOperation,
  type BulkOperationKind,
  type BulkOperationRef,
  type BulkOperationStatus,
  isOpen,
} from '../../model/bulk/bulk-operation.ts';
import { inPipelines, type Redis, type ScriptedRedis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import { memberOf } from '../runs/active-runs.ts';
import type { BulkKind } from './bulk-kind.ts';
import { type Fields, fieldsOf, operationOf } from './operation-fields.ts';

/** Result of a portion. */
export interface DonePortion<Position> {
  /** Absent: the position does not change. */
  position?: Position | undefined;
  /** Plan of the next portion; absent if the portion makes its own plan. */
  planned?: unknown;
  /** Counts to replace. */
  numbers?: Record<string, number>;
  /** Counts to add. */
  counts: Record<string, number>;
  results: readonly { list?: string; result: unknown; isSkipped?: boolean }[];
  /** Registered runs that do not exist. */
  gone?: readonly string[];
  /** Set when the operation has reached its end. */
  doneAt?: number | undefined;
}

type Stored = { id: string; createdAt: number };

export class BulkOperations<Definition extends Stored, Position> extends Repository<
  ScriptedRedis,
  BulkKind<Definition>
> {
  get kind(): BulkOperationKind {
    return this.deps.kind;
  }

  /** @param digest identifies the work: an open operation with the same digest is returned instead
   *  @returns the operation's ID
   *  @throws ServiceError quota_exceeded */
  async add(
    env: string,
    definition: Definition,
    { digest = '', ...fields }: Fields<Position> & { digest?: string },
  ): Promise<string> {
    const { kind, openMax, noun, remedy, ttlMs } = this.deps;
    const { id, createdAt } = definition;
    await this.#forget(env);
    const initial = { definition: JSON.stringify(definition), status: 'running', portion: '0', ...fieldsOf(fields) };
    const [outcome, found] = (await this.redis.addBulkOperation(
      this.keys.bulkOperation(env, kind, id),
      this.keys.bulkOperations(env, kind),
      this.keys.openBulkOperations(env, kind),
      this.keys.dueBulkOperations(kind),
      id,
      memberOf(env, id),
      createdAt,
      ttlMs(definition, false),
      openMax,
      digest,
      ...Object.entries(initial).flat(),
    )) as [number, (number | string)?];
    if (outcome === 1) return id;
    if (outcome === 2) return found as string;
    throw new ServiceError('quota_exceeded', {
      detail: `${openMax} ${noun} are in progress or paused; ${remedy}, or wait until one is done`,
      facts: { allowed: openMax, there: found as number },
    });
  }

  /** Removes expired operations, and makes room for one more. */
  async #forget(env: string): Promise<void> {
    const { kind, keptMax } = this.deps;
    const surplus = await this.redis.zrange(this.keys.bulkOperations(env, kind), 0, String(-keptMax));
    const open = await this.redis.smembers(this.keys.openBulkOperations(env, kind));
    const isPresent = await inPipelines<number>(
      this.redis as Redis,
      open.map((id) => ['exists', this.keys.bulkOperation(env, kind, id)]),
    );
    const present = new Set(open.filter((_, i) => isPresent[i] === 1));
    const forgotten = [...surplus, ...open].filter((id) => !present.has(id));
    for (const id of new Set(forgotten)) await this.remove({ env, id });
  }

  async remove({ env, id }: BulkOperationRef): Promise<void> {
    const { kind } = this.deps;
    await this.redis.zrem(this.keys.dueBulkOperations(kind), memberOf(env, id));
    await this.redis.zrem(this.keys.bulkOperations(env, kind), id);
    await this.redis.srem(this.keys.openBulkOperations(env, kind), id);
    await this.redis.unlink(this.#ownKeys({ env, id }));
  }

  async read(env: string, id: string): Promise<BulkOperation<Definition, Position> | undefined> {
    return (await this.#readMany(env, [id]))[0];
  }

  /** Newest first.
   *  @param before ID; undefined: from the newest
   *  @param limit undefined: all
   *  @param statuses undefined: any */
  async list(
    env: string,
    {
      before,
      limit = this.deps.keptMax,
      statuses,
    }: { before?: string | undefined; limit?: number; statuses?: readonly BulkOperationStatus[] | undefined } = {},
  ): Promise<BulkOperation<Definition, Position>[]> {
    const ids = (await this.redis.zrange(this.keys.bulkOperations(env, this.deps.kind), 0, '-1')).sort().reverse();
    const rest = before === undefined ? ids : ids.filter((id) => id < before);
    const found: BulkOperation<Definition, Position>[] = [];
    // Some operations may have expired.
    for (let at = 0; at < rest.length && found.length < limit; at += limit) {
      const read = await this.#readMany(env, rest.slice(at, at + limit));
      found.push(...read.filter(({ status }) => !statuses || statuses.includes(status)));
    }
    return found.slice(0, limit);
  }

  async #readMany(env: string, ids: readonly string[]): Promise<BulkOperation<Definition, Position>[]> {
    const { kind } = this.deps;
    const commands = ids.flatMap((id) => [
      // Active runs are read first: a run that ends meanwhile is then counted twice for a moment. In the other order it would be missing,
      // with no active run.
      ['scard', this.keys.bulkOperationRuns(env, kind, id)],
      ['hgetall', this.keys.bulkOperation(env, kind, id)],
    ]);
    const found = await inPipelines<Record<string, string> | number>(this.redis as Redis, commands);
    return ids.flatMap((_, i) => {
      const [active, fields] = found.slice(2 * i, 2 * i + 2) as [number, Record<string, string>];
      return operationOf<Definition, Position>(env, fields, active) ?? [];
    });
  }

  /** Changes the status, which makes the operation due.
   *  @param from statuses in which the change is possible
   *  @returns whether it was changed; undefined if there is no such operation */
  async change(
    { env, id }: BulkOperationRef,
    to: BulkOperationStatus,
    from: readonly BulkOperationStatus[],
    nowMs: number,
  ): Promise<boolean | undefined> {
    const { kind } = this.deps;
    const operation = await this.read(env, id);
    if (!operation) return undefined;
    const { definition, doneAt = nowMs } = operation;
    const isOver = !isOpen({ status: to });
    const [own, ...rest] = this.#ownKeys({ env, id }) as [string, ...string[]];
    const keys = [own, this.keys.dueBulkOperations(kind), this.keys.openBulkOperations(env, kind), ...rest];
    const changed = await this.redis.changeBulkOperation(
      keys.length,
      ...keys,
      id,
      memberOf(env, id),
      nowMs,
      to,
      isOver ? 0 : 1,
      from.join(','),
      this.deps.ttlMs(definition, isOver),
      this.#resultsTtlMs(definition, isOver),
      ...Object.entries(to === 'cancelled' ? this.#overFields(definition, doneAt) : {}).flat(),
    );
    return changed === -1 ? undefined : changed === 1;
  }

  #resultsTtlMs(definition: Definition, isOver: boolean): number {
    const { ttlMs, results } = this.deps;
    return Math.min(ttlMs(definition, isOver), results.ttlMaxMs ?? Number.POSITIVE_INFINITY);
  }

  /** Fields to set when an operation ends. */
  #overFields(definition: Definition, doneAt: number): Record<string, string | number> {
    const { whenOver } = this.deps;
    return { done_at: doneAt, ...(whenOver && { definition: JSON.stringify(whenOver(definition)) }) };
  }

  /** Stores the plan of the next portion before it is carried out.
   *  @returns false if another worker has taken over, or the operation was paused or cancelled */
  async plan({ env, id, portion }: BulkOperation<Definition, Position>, planned: unknown): Promise<boolean> {
    const key = this.keys.bulkOperation(env, this.deps.kind, id);
    return (await this.redis.planBulkPortion(key, portion, JSON.stringify(planned))) === 1;
  }

  /** @returns the status; undefined if another worker has taken over and nothing was saved */
  async save(
    operation: BulkOperation<Definition, Position>,
    { position, planned, numbers = {}, counts, results, gone = [], doneAt }: DonePortion<Position>,
  ): Promise<BulkOperationStatus | undefined> {
    const { env, id, definition, portion: number } = operation;
    const { lists, max, skippedMax = max, keepsLast } = this.deps.results;
    const given = {
      number,
      id,
      ttl: this.deps.ttlMs(definition, !isOpen(operation)),
      fields: fieldsOf({ position, planned, numbers }),
      removed: ['waiting', 'planned'],
      counts,
      results: results.map(({ list, result, isSkipped }) => ({
        list: list === undefined ? 0 : lists.indexOf(list),
        text: JSON.stringify(result),
        ...(isSkipped && { skipped: true }),
      })),
      results_max: max,
      skipped_max: skippedMax,
      ...(keepsLast && { keeps_last: true }),
      gone,
      ...(doneAt !== undefined && { done: this.#overFields(definition, doneAt) }),
      done_ttl: this.deps.ttlMs(definition, true),
      results_ttl: this.#resultsTtlMs(definition, !isOpen(operation)),
    };
    const { kind } = this.deps;
    const [own, ...rest] = this.#ownKeys(operation) as [string, ...string[]];
    const keys = [own, this.keys.bulkOperations(env, kind), this.keys.openBulkOperations(env, kind), ...rest];
    const status = await this.redis.saveBulkPortion(keys.length, ...keys, JSON.stringify(given));
    return (status ?? undefined) as BulkOperationStatus | undefined;
  }

  /** Results, beginning with a number. @param limit undefined: all */
  async results<Result>(
    { env, id }: BulkOperationRef,
    { from = 0, limit, list = this.deps.results.lists[0] as string }: { from?: number; limit?: number; list?: string },
  ): Promise<Result[]> {
    const key = this.keys.bulkOperationResults(env, this.deps.kind, id, list);
    const texts = await this.redis.lrange(key, from, limit === undefined ? -1 : from + limit - 1);
    return texts.map((text) => JSON.parse(text) as Result);
  }

  /** Longest overdue first. */
  async due(nowMs: number, limit: number): Promise<BulkOperationRef[]> {
    const key = this.keys.dueBulkOperations(this.deps.kind);
    const members = await this.redis.zrangebyscore(key, '-inf', nowMs, 'LIMIT', 0, limit);
    return members.map((member) => {
      const slash = member.lastIndexOf('/');
      return { env: member.slice(0, slash), id: member.slice(slash + 1) };
    });
  }

  /** When the next operation is due, Unix milliseconds; undefined if none is scheduled. */
  async nextDueAt(): Promise<number | undefined> {
    const [, dueAt] = await this.redis.zrange(this.keys.dueBulkOperations(this.deps.kind), 0, '0', 'WITHSCORES');
    return dueAt === undefined ? undefined : Number(dueAt);
  }

  /** Schedules the operation's next portion, or none, unless its status has changed since it was read.
   *  @param status status as read; undefined if the operation was gone */
  async schedule(
    { env, id }: BulkOperationRef,
    status: BulkOperationStatus | undefined,
    dueAt: number | undefined,
  ): Promise<void> {
    const { kind } = this.deps;
    const keys = [this.keys.bulkOperation(env, kind, id), this.keys.dueBulkOperations(kind)] as const;
    await this.redis.scheduleBulkOperation(...keys, memberOf(env, id), status ?? '', dueAt ?? '');
    if (status === undefined) await this.redis.srem(this.keys.openBulkOperations(env, kind), id);
  }

  /** Records why the operation is waiting. */
  async setWaiting({ env, id }: BulkOperationRef, reason: string): Promise<void> {
    const key = this.keys.bulkOperation(env, this.deps.kind, id);
    if ((await this.redis.exists(key)) === 1) await this.redis.hset(key, 'waiting', reason);
  }

  #ownKeys({ env, id }: BulkOperationRef): string[] {
    const { kind, results } = this.deps;
    const { bulkOperation, bulkOperationPortion, bulkOperationRuns, bulkOperationResults } = this.keys;
    return [
      ...[bulkOperation, bulkOperationPortion, bulkOperationRuns].map((key) => key(env, kind, id)),
      ...results.lists.map((list) => bulkOperationResults(env, kind, id, list)),
    ];
  }
}
