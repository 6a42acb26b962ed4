/** The schedules in force, as job schedulers of BullMQ: one per cron trigger, in its function's permanent partition. They are updated
 *  immediately after a change of functions, and by a periodic round, which completes work left undone by dead processes. An existing
 *  schedule is not touched, so a registration neither repeats nor shifts a tick. Ticks check the function themselves (cron.ts), so a
 *  superfluous schedule starts no run. */

import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';
import { type Schedule, scheduleId, schedulesOf } from '../../model/schedules/schedules.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import type { Clock } from '../../model/values/clock.ts';
import { Composed } from '../../model/values/composed.ts';
import { QUEUE_KEYS } from '../../store/keys/bullmq.ts';
import { inPipelines } from '../../store/redis/connection/connection.ts';
import type { Store } from '../../store/store.ts';
import { schedulerKey } from '../queues/job-schedulers.ts';
import type { PartitionQueues } from '../queues/partition-queues.ts';
import type { CronTimer, TimerQueue } from '../queues/queues.ts';

/** Number of schedules read, added or removed at once. */
const AT_ONCE = 500;
/** A schedule may have lost its job if the job is overdue by this much. */
const OVERDUE_MS = 60_000;

/** Wanted schedules by ID. */
type Wanted = Map<string, Schedule>;

/** An earlier version may have registered functions without their schedules, so the first round is early. */
export const scheduleReconciliation = duty<{ schedules: Pick<Schedules, 'reconcile'>; log: Logger }>({
  name: 'schedules',
  about: 'Compares the schedules with the functions',
  scope: 'installation',
  everyMs: 30_000,
  leaseMs: 30_000,
  rounds:
    ({ schedules, log }) =>
    async () => {
      const { added, removed } = await schedules.reconcile();
      if (added + removed > 0) log.info({ added, removed }, 'reconciled schedules');
    },
});

export interface SchedulesDeps extends Pick<Store, 'keys' | 'redis' | 'environments'> {
  storedFunctions: Store['functions'];
  queues: PartitionQueues;
  clock: Clock;
}

export class Schedules extends Composed<SchedulesDeps> {
  /** The wanted schedules of each environment, and the version of its functions. */
  readonly #known = new Map<string, { version: number; wanted: Wanted }>();

  /** Call after the schedules of an environment may have changed.
   *  @param gone schedules that were in force before */
  async follow(env: string, gone: readonly Schedule[] = []): Promise<void> {
    const wanted = await this.#wantedIn(env);
    const unwanted = gone.filter((schedule) => !wanted.has(scheduleId(schedule)));
    await this.#remove(unwanted);
    // Read again after a removal: a process that wants a removed schedule back checks for it only after storing the function.
    await this.#addMissing(unwanted.length === 0 ? wanted : await this.#wantedIn(env));
  }

  /** Compares all schedules.
   *  @returns number of added and removed schedules */
  async reconcile(): Promise<{ added: number; removed: number }> {
    let removed = 0;
    for (const { timers } of this.deps.queues.all()) {
      const there = await this.deps.redis.zrange(timers.toKey(QUEUE_KEYS.schedulers), '0', '-1');
      if (there.length === 0) continue;
      // Read after the existing schedules: functions are stored before their schedules.
      const wanted = await this.#allWanted();
      for (const id of there) if (!wanted.has(id) && (await timers.removeJobScheduler(id))) removed++;
    }
    return { added: await this.#addMissing(await this.#allWanted()), removed };
  }

  async #wantedIn(env: string): Promise<Wanted> {
    const environment = await this.deps.environments.read(env);
    if (!environment || environment.archivedAt !== undefined) return new Map();
    return byId((await this.deps.storedFunctions.all(env)).functions.flatMap((fn) => schedulesOf(env, fn)));
  }

  async #allWanted(): Promise<Wanted> {
    const { environments, storedFunctions: functions } = this.deps;
    const live = (await environments.all()).filter(({ archivedAt }) => archivedAt === undefined);
    const names = new Set(live.map(({ name }) => name));
    for (const env of this.#known.keys()) if (!names.has(env)) this.#known.delete(env);
    for (const some of chunksOf([...names], AT_ONCE)) {
      await Promise.all(
        some.map(async (env) => {
          const known = this.#known.get(env);
          if (known && known.version === (await functions.version(env))) return;
          const { version, functions: all } = await functions.all(env);
          this.#known.set(env, { version, wanted: byId(all.flatMap((fn) => schedulesOf(env, fn))) });
        }),
      );
    }
    return new Map([...this.#known.values()].flatMap(({ wanted }) => [...wanted]));
  }

  /** @returns number of missing schedules */
  async #addMissing(wanted: Wanted): Promise<number> {
    const { redis, clock } = this.deps;
    const now = clock();
    let added = 0;
    for (const some of chunksOf([...wanted], AT_ONCE)) {
      const commands = some.map(([id, schedule]) => [
        'zscore',
        this.#queueOf(schedule).toKey(QUEUE_KEYS.schedulers),
        id,
      ]);
      const scores = await inPipelines<string | null>(redis, commands);
      const overdue = some.filter((_, i) => scores[i] !== null && now - Number(scores[i]) > OVERDUE_MS);
      const lost = await this.#withoutJob(overdue);
      const missing = some.filter(([id], i) => scores[i] === null || lost.has(id));
      await Promise.all(missing.map(([id, schedule]) => add(this.#queueOf(schedule), id, schedule)));
      added += missing.length;
    }
    return added;
  }

  /** IDs of schedules whose next tick has no job. */
  async #withoutJob(schedules: readonly [id: string, Schedule][]): Promise<Set<string>> {
    const lost = new Set<string>();
    for (const [id, schedule] of schedules) {
      const queue = this.#queueOf(schedule);
      const at = await this.deps.redis.zscore(queue.toKey(QUEUE_KEYS.schedulers), id);
      if (at !== null && (await this.deps.redis.exists(schedulerKey(queue, id, at))) === 0) lost.add(id);
    }
    return lost;
  }

  async #remove(schedules: readonly Schedule[]): Promise<void> {
    for (const some of chunksOf(schedules, AT_ONCE)) {
      await Promise.all(some.map((schedule) => this.#queueOf(schedule).removeJobScheduler(scheduleId(schedule))));
    }
  }

  #queueOf({ env, functionId }: Schedule): TimerQueue {
    const { queues, keys } = this.deps;
    return queues.partition(keys.homeOf(`${env}/${functionId}`).number).timers;
  }
}

/** Adds a schedule whose first tick is its next one. */
async function add(queue: TimerQueue, id: string, { env, functionId, cron }: Schedule): Promise<void> {
  const data: CronTimer = { kind: 'cron', env, functionId, cron };
  await queue.upsertJobScheduler(id, { pattern: cron }, { name: 'cron', data }).catch((error: Error) => {
    // Another process has added it, and its first tick is being handled.
    if (!/collision|already exists/i.test(error.message)) throw error;
  });
}

function byId(schedules: readonly Schedule[]): Wanted {
  return new Map(schedules.map((schedule) => [scheduleId(schedule), schedule]));
}
