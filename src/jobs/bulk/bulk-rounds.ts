/** Carries out bulk actions. Any worker does it, a portion at a time; it resumes where another worker stopped. Several are worked on at the same time, the
 *  longest overdue first, and of one environment only a few: a slow one holds up no other. */
import { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { BulkAction, BulkWaitingReason } from '../../model/runs/bulk-action.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { Locks } from '../../store/redis/locks.ts';
import type { DueBulkAction } from '../../store/runs/bulk-actions.ts';
import type { ReplayLoad } from '../replays/replay-load.ts';
import { type BulkPortionDeps, carryOnBulkAction } from './bulk-portion.ts';

const AT_ONCE = 8;
const AT_ONCE_OF_ENVIRONMENT = 2;
/** Of those that are due, the ones that are considered. */
const DUE_MAX = 200;
/** After a worker died, another one goes on. Two at the same time would do no harm: each portion is saved once. */
const LOCK_MS = 10_000;
const WAIT_MS = 2_000;
/** One that is paused is looked at so often: it keeps its entry among those that are due, so that a resumed one cannot be lost. */
const PAUSED_MS = 10_000;
/** A worker that acts on the last portion of a cancelled action is done, or dead, after so long. */
const ENDING_MS = 15_000;
const AFTER_FAILURE_MS = 5_000;
const POLL_MIN_MS = 20;
const POLL_MAX_MS = 1_000;

export interface BulkRoundDeps extends BulkPortionDeps {
  environments: Pick<Environments, 'read'>;
  /** Re-runs stop earlier than events are rejected, as replays do. */
  load: Pick<ReplayLoad, 'reasonToWait'>;
  locks: Locks;
  log: Logger;
}

export class BulkRounds {
  readonly #deps: BulkRoundDeps;
  readonly #inProgress = new Map<string, { env: string; done: Promise<void> }>();

  constructor(deps: BulkRoundDeps) {
    this.#deps = deps;
  }

  /** Starts to work on those that are due. @returns when to look again, in milliseconds */
  async round(): Promise<number> {
    const { bulkActions } = this.#deps;
    for (const { env, id } of await bulkActions.due(Date.now(), DUE_MAX)) {
      if (this.#inProgress.size >= AT_ONCE) break;
      if (this.#inProgress.has(id) || this.#countOf(env) >= AT_ONCE_OF_ENVIRONMENT) continue;
      const done = this.#workOn({ env, id }).finally(() => this.#inProgress.delete(id));
      this.#inProgress.set(id, { env, done });
    }
    const next = await bulkActions.nextDueAt();
    return next === undefined ? POLL_MAX_MS : Math.min(Math.max(next - Date.now(), POLL_MIN_MS), POLL_MAX_MS);
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#inProgress.values()].map(({ done }) => done));
  }

  #countOf(env: string): number {
    return [...this.#inProgress.values()].filter((one) => one.env === env).length;
  }

  async #workOn({ env, id }: DueBulkAction): Promise<void> {
    const { locks, bulkActions, log } = this.#deps;
    const work = async () => {
      try {
        await this.#carryOn(env, id);
      } catch (error) {
        const code = error instanceof ServiceError ? error.code : undefined;
        if (code === 'archive_unavailable') return this.#wait(env, id, code);
        if (code !== 'searches_full') {
          log.warn({ env, bulk_action: id, err: (error as Error).message }, 'a bulk action could not go on');
        }
        await bulkActions.setDue(env, id, Date.now() + (code === 'searches_full' ? WAIT_MS : AFTER_FAILURE_MS));
      }
    };
    // Redis is away.
    await locks.withLock(`bulk-action:${env}/${id}`, LOCK_MS, work).catch(() => undefined);
  }

  async #carryOn(env: string, id: string): Promise<void> {
    const { bulkActions, environments } = this.#deps;
    const [action, environment] = await Promise.all([bulkActions.read(env, id), environments.read(env)]);
    const isGone = !action || !environment || environment.deletingAt !== undefined;
    if (!isGone && action.status === 'paused') return bulkActions.setDue(env, id, Date.now() + PAUSED_MS);
    if (isGone || action.status !== 'running') return bulkActions.setDue(env, id, undefined);
    const reason = environment.archivedAt === undefined ? await this.#reasonToWait(action) : 'environment_archived';
    if (reason) return this.#wait(env, id, reason);
    if (await this.#isSourceEnding(action)) return bulkActions.setDue(env, id, Date.now() + WAIT_MS);
    const waitMs = await carryOnBulkAction(action, this.#deps);
    await bulkActions.setDue(env, id, Date.now() + waitMs);
  }

  async #reasonToWait({ action }: BulkAction): Promise<BulkWaitingReason | undefined> {
    if (action === 'cancel') return undefined;
    const reason = await this.#deps.load.reasonToWait(Date.now());
    return reason === 'active_runs' ? 'backlog' : reason;
  }

  /** Another action whose runs are selected may just be starting some more. */
  async #isSourceEnding({ selection: { env, startedBy } }: BulkAction): Promise<boolean> {
    if (startedBy === undefined) return false;
    const source = await this.#deps.bulkActions.read(env, startedBy);
    return source?.portion !== undefined && Date.now() - (source.doneAt ?? 0) < ENDING_MS;
  }

  async #wait(env: string, id: string, waiting: BulkWaitingReason): Promise<void> {
    const { bulkActions } = this.#deps;
    await bulkActions.change(env, id, (action) => (action.waiting === waiting ? undefined : { ...action, waiting }));
    await bulkActions.setDue(env, id, Date.now() + WAIT_MS);
  }
}
