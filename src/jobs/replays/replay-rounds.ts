/** Carries out replays. Any worker does it, a portion at a time; it resumes where another worker stopped. Several replays are worked on at the same
 *  time, the longest overdue first, and of one environment only a few: a slow one holds up no other. */
import { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { WaitingReason } from '../../model/replays/replay.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { Locks } from '../../store/redis/locks.ts';
import type { Due, Replays, StoredReplay } from '../../store/replays/replays.ts';
import { cancelActiveRuns, checkActiveRuns, type EndedRunsDeps } from './ended-runs.ts';
import type { ReplayLoad } from './replay-load.ts';
import { carryOnPortion, type PortionDeps, settleInterrupted } from './replay-portion.ts';

const AT_ONCE = 8;
const AT_ONCE_OF_ENVIRONMENT = 2;
/** Of those that are due, the ones that are considered. */
const DUE_MAX = 200;
/** After a worker died, another one goes on. Two at the same time would do no harm: each portion is saved once. */
const LOCK_MS = 10_000;
/** One replay takes no more memory than so many active runs do. */
const ACTIVE_RUNS_MAX = 50_000;
const WAIT_MS = 2_000;
const AFTER_FAILURE_MS = 5_000;
/** Between checks of the runs that are still active. */
const CHECK_MIN_MS = 15_000;
const CHECK_MAX_MS = 3_600_000;
const POLL_MIN_MS = 20;
const POLL_MAX_MS = 1_000;

export interface ReplayDeps extends PortionDeps, EndedRunsDeps {
  replays: Replays;
  environments: Pick<Environments, 'read'>;
  load: ReplayLoad;
  locks: Locks;
  log: Logger;
}

export class ReplayRounds {
  readonly #deps: ReplayDeps;
  readonly #inProgress = new Map<string, { env: string; done: Promise<void> }>();

  constructor(deps: ReplayDeps) {
    this.#deps = deps;
  }

  /** Starts to work on those that are due. @returns when to look again, in milliseconds */
  async round(signal: AbortSignal): Promise<number> {
    const { replays } = this.#deps;
    const now = Date.now();
    for (const { env, id } of await replays.due(now, DUE_MAX)) {
      if (this.#inProgress.size >= AT_ONCE) break;
      if (this.#inProgress.has(id) || this.#countOf(env) >= AT_ONCE_OF_ENVIRONMENT) continue;
      const done = this.#workOn({ env, id }, signal).finally(() => this.#inProgress.delete(id));
      this.#inProgress.set(id, { env, done });
    }
    const next = await replays.nextDueAt();
    return next === undefined ? POLL_MAX_MS : Math.min(Math.max(next - Date.now(), POLL_MIN_MS), POLL_MAX_MS);
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#inProgress.values()].map(({ done }) => done));
  }

  #countOf(env: string): number {
    return [...this.#inProgress.values()].filter((one) => one.env === env).length;
  }

  async #workOn({ env, id }: Due, signal: AbortSignal): Promise<void> {
    const { locks, replays, log } = this.#deps;
    const work = async () => {
      try {
        await carryOn({ env, id }, this.#deps, signal);
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'archive_unavailable') {
          return wait({ env, id }, 'archive_unavailable', this.#deps);
        }
        log.warn({ env, replay: id, err: (error as Error).message }, 'a replay could not go on');
        await replays.setDue(env, id, Date.now() + AFTER_FAILURE_MS);
      }
    };
    // Redis is away.
    await locks.withLock(`replay:${env}/${id}`, LOCK_MS, work).catch(() => undefined);
  }
}

async function carryOn({ env, id }: Due, deps: ReplayDeps, signal: AbortSignal): Promise<void> {
  const { replays, environments } = deps;
  const [replay, environment] = await Promise.all([replays.read(env, id), environments.read(env)]);
  if (!replay || !environment || environment.deletingAt !== undefined) return replays.setDue(env, id, undefined);
  if (replay.status === 'running') {
    const reason = environment.archivedAt === undefined ? await reasonToWait(replay, deps) : 'environment_archived';
    return reason ? wait(replay, reason, deps) : carryOnPortion(replay, deps, signal);
  }
  if (await settleInterrupted(replay, deps)) return;
  if (replay.status === 'paused') return replays.setDue(env, id, undefined);
  if (replay.status === 'cancelling') return cancelRuns(replay, deps, signal);
  return checkRuns(replay, deps);
}

async function reasonToWait(replay: StoredReplay, deps: ReplayDeps): Promise<WaitingReason | undefined> {
  if (replay.counts.active >= ACTIVE_RUNS_MAX) {
    await checkActiveRuns(replay, deps);
    return 'active_runs';
  }
  return deps.load.reasonToWait(Date.now());
}

async function wait({ env, id }: Due, reason: WaitingReason, { replays }: ReplayDeps): Promise<void> {
  await replays.setWaiting(env, id, reason);
  await replays.setDue(env, id, Date.now() + WAIT_MS);
}

async function cancelRuns(replay: StoredReplay, deps: ReplayDeps, signal: AbortSignal): Promise<void> {
  const { env, id } = replay;
  if (await cancelActiveRuns(replay, deps, signal)) return deps.replays.setDue(env, id, Date.now());
  await deps.replays.change(env, id, 'cancelled', ['cancelling'], Date.now());
}

async function checkRuns(replay: StoredReplay, deps: ReplayDeps): Promise<void> {
  const { env, id, doneAt = 0, counts } = replay;
  if (counts.active === 0) return deps.replays.setDue(env, id, undefined);
  const now = Date.now();
  await checkActiveRuns(replay, deps);
  await deps.replays.setDue(env, id, now + Math.min(Math.max((now - doneAt) / 4, CHECK_MIN_MS), CHECK_MAX_MS));
}
