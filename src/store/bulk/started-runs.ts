/** Runs that a bulk operation starts: registered before they start, as many as its rate allows, and counted once when they end. The
 *  registration shows what a dead worker left undone. */
import type { BulkOperationKind, BulkOperationRef } from '../../model/bulk/bulk-operation.ts';
import type { RunStatus } from '../../model/runs/run.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';

/** Prefix of the counts of ended runs. */
export const ENDED = 'ended:';

export interface Registered {
  /** Number of runs, from the first, that may be started. */
  count: number;
  untilNextSecondMs: number;
}

export class StartedRuns extends Repository<ScriptedRedis, { kind: BulkOperationKind; ttlMs: number }> {
  /** Run ID → event ID of registered runs that are not saved yet: a worker is starting them, or died. */
  async registered({ env, id }: BulkOperationRef): Promise<Map<string, string>> {
    const fields = await this.redis.hgetall(this.keys.bulkOperationPortion(env, this.deps.kind, id));
    return new Map(Object.entries(fields));
  }

  /** Registers runs before they are started, as many as the rate allows.
   *  @returns undefined if another worker has taken over, or the operation is not running */
  async register(
    { env, id, portion, definition }: BulkOperationRef & { portion: string; definition: { rate: number } },
    runs: readonly { runId: string; eventId: string }[],
  ): Promise<Registered | undefined> {
    const [count, untilNextSecondMs] = (await this.redis.registerRuns(
      this.keys.bulkOperation(env, this.deps.kind, id),
      this.keys.bulkOperationPortion(env, this.deps.kind, id),
      this.keys.bulkOperationRuns(env, this.deps.kind, id),
      portion,
      definition.rate,
      this.deps.ttlMs,
      ...runs.flatMap(({ runId, eventId }) => [runId, eventId]),
    )) as [number, number];
    return count === -1 ? undefined : { count, untilNextSecondMs };
  }

  /** Counts the end of a run, once. */
  async recordEnd({ env, id }: BulkOperationRef, runId: string, status: RunStatus): Promise<void> {
    const { bulkOperation, bulkOperationRuns } = this.keys;
    const [operation, active] = [bulkOperation(env, this.deps.kind, id), bulkOperationRuns(env, this.deps.kind, id)];
    await this.redis.endStartedRun(active, operation, runId, ENDED + status);
  }

  /** A random sample of the active runs. */
  async someActive({ env, id }: BulkOperationRef, count: number): Promise<string[]> {
    return this.redis.srandmember(this.keys.bulkOperationRuns(env, this.deps.kind, id), count);
  }

  /** Removes runs that do not exist from the active ones. */
  async forget({ env, id }: BulkOperationRef, runIds: readonly string[]): Promise<void> {
    if (runIds.length > 0) await this.redis.srem(this.keys.bulkOperationRuns(env, this.deps.kind, id), ...runIds);
  }
}
