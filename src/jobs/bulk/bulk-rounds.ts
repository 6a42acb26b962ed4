/** Carries out bulk operations. Any process that has the work of a kind carries it out portion by portion, and resumes
 *  where another process stopped.
 *  Several operations proceed at once, longest overdue first, but few of one environment, so that a slow one does not delay others. */
import { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { type BulkOperationKind, type BulkOperationRef, INSTALLATION } from '../../model/bulk/bulk-operation.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Store } from '../../store/store.ts';
import type { AnyBulkWork } from './bulk-work.ts';

const CONCURRENCY = { total: 8, perEnvironment: 2 };
/** Maximum number of due operations considered per round. */
const DUE_MAX = 200;
/** After this time, another process takes over from a dead one. Two processes at once would do no harm: each portion is saved once. */
const LOCK_MS = 10_000;
const WAIT_MS = 2_000;
const AFTER_FAILURE_MS = 5_000;
const POLL_MIN_MS = 20;
const POLL_MAX_MS = 1_000;

export class BulkRounds extends Composed<{
  kindsOfWork: readonly AnyBulkWork[];
  environments: Pick<Store['environments'], 'read'>;
  locks: Pick<Store['locks'], 'withLock'>;
  log: Logger;
}> {
  readonly #inProgress = new Map<string, { env: string; kind: BulkOperationKind; done: Promise<void> }>();

  /** Starts work on due operations. @returns milliseconds until the next round */
  async round(signal: AbortSignal): Promise<number> {
    const next = await Promise.all(this.deps.kindsOfWork.map((work) => this.#begin(work, signal)));
    return Math.min(...next);
  }

  /** Resolves when all work of a round is done. */
  async settled(): Promise<void> {
    await Promise.all([...this.#inProgress.values()].map(({ done }) => done));
  }

  async #begin(work: AnyBulkWork, signal: AbortSignal): Promise<number> {
    const { operations, concurrency = CONCURRENCY } = work;
    const { kind } = operations;
    for (const { env, id } of await operations.due(Date.now(), DUE_MAX)) {
      if (this.#count(kind) >= concurrency.total) break;
      const key = lockOf(kind, { env, id });
      if (this.#inProgress.has(key) || this.#count(kind, env) >= concurrency.perEnvironment) continue;
      const done = this.#workOn(work, { env, id }, signal).finally(() => this.#inProgress.delete(key));
      this.#inProgress.set(key, { env, kind, done });
    }
    const dueAt = await operations.nextDueAt();
    return dueAt === undefined ? POLL_MAX_MS : Math.min(Math.max(dueAt - Date.now(), POLL_MIN_MS), POLL_MAX_MS);
  }

  #count(kind: BulkOperationKind, env?: string): number {
    const all = [...this.#inProgress.values()];
    return all.filter((operation) => operation.kind === kind && (env === undefined || operation.env === env)).length;
  }

  async #workOn(work: AnyBulkWork, ref: BulkOperationRef, signal: AbortSignal): Promise<void> {
    const { locks } = this.deps;
    const { kind } = work.operations;
    // If Redis is down, another round tries again.
    await locks.withLock(lockOf(kind, ref), LOCK_MS, () => this.#advance(work, ref, signal)).catch(() => undefined);
  }

  async #advance(work: AnyBulkWork, ref: BulkOperationRef, signal: AbortSignal): Promise<void> {
    const { environments, log } = this.deps;
    const { operations } = work;
    const [operation, environment] = await Promise.all([operations.read(ref.env, ref.id), environments.read(ref.env)]);
    const isGone = ref.env !== INSTALLATION && (!environment || environment.deletingAt !== undefined);
    if (!operation || isGone) return operations.schedule(ref, operation?.status, undefined);
    const { status } = operation;
    const continueIn = (delayMs: number | undefined) =>
      operations.schedule(ref, status, delayMs === undefined ? undefined : Date.now() + delayMs);
    const wait = async (reason: string) => {
      await operations.setWaiting(ref, reason);
      await continueIn(WAIT_MS);
    };
    try {
      if (status !== 'running') return await continueIn(await work.settle?.(operation, signal));
      const isArchived = environment?.archivedAt !== undefined && work.inArchivedEnvironments === 'waits';
      const reason = isArchived ? 'environment_archived' : await work.reasonToWait?.(operation);
      return reason ? await wait(reason) : await continueIn(await work.doPortion(operation, signal));
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : undefined;
      if (code !== undefined && (work.waitsFor?.(code) ?? code === 'archive_unavailable')) return wait(code);
      if (code === 'searches_full') return continueIn(WAIT_MS);
      const { env, id } = ref;
      log.warn({ kind: operations.kind, env, id, err: (error as Error).message }, 'a bulk operation could not go on');
      return continueIn(AFTER_FAILURE_MS);
    }
  }
}

function lockOf(kind: BulkOperationKind, { env, id }: BulkOperationRef): string {
  return env === INSTALLATION ? `${kind}:${id}` : `${kind}:${env}/${id}`;
}
