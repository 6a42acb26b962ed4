/** The archiver: moves old data from Redis to Postgres, one partition at a time. The holder of a partition's lease works on it; two at
 *  once would only do the same work twice. It takes the environments in turn, oldest minutes first, in small portions, and pauses between
 *  portions while the process has other work. */
import { performance } from 'node:perf_hooks';
import type { Archive } from '../../archive/archive.ts';
import type { Environment } from '../../model/environment.ts';
import { ENDINGS } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import { sum } from '../../model/values/sum.ts';
import { floorTo, HOUR_MS, MINUTE_MS } from '../../model/values/time.ts';
import type { EventGroup } from '../../store/events/archivable-events.ts';
import type { Position } from '../../store/redis/pagination.ts';
import type { Store } from '../../store/store.ts';
import { Pauses } from './pauses.ts';
import { archiveEvents, archiveRunsOf, type Scope, type Shipped } from './portion.ts';

export interface RoundResult extends Shipped {
  /** Whether more is due now. */
  more: boolean;
  /** Start of the oldest minute that is due and not archived, Unix milliseconds. */
  oldest: number | undefined;
}

const MINUTES_AT_ONCE = 20;
const EVENTS_OF_PORTION = 1_000;
const BYTES_OF_PORTION = 4 * 1_048_576;
/** Number of portions in progress: while Postgres writes one, the next is read. */
const PORTIONS_AT_ONCE = 2;
/** Maximum number of events between two pauses, while the process has other work, and while it has none. */
const EVENTS_OF_BURST = { busy: PORTIONS_AT_ONCE * EVENTS_OF_PORTION, idle: 6_000 };
/** Number of events of an environment before the next one has its turn. */
const TURN_EVENTS = EVENTS_OF_BURST.idle;
const IN_USE_AT_ONCE = 200;
const ENDED_MINUTES_AT_ONCE = 30;
/** When events are overdue by this much, Redis holds more than planned. */
const LATE_MIN_MS = 10 * MINUTE_MS;
const LATE_SHARE = 0.05;

type GroupedPosition = Position & EventGroup;

/** Turn of an environment while others wait. */
interface Turn {
  /** Number of events left in the turn. */
  left: number;
  result: Shipped;
  signal: AbortSignal | undefined;
}

export class Archiver extends Composed<{
  archive: Pick<Archive, 'shipments' | 'hotMs'>;
  store: Pick<Store, 'archivableEvents' | 'archivableRuns' | 'eventsInUse' | 'environments'>;
  /** Called after each portion. */
  onShipped?: (shipped: Shipped, durationMs: number) => void;
}> {
  /** Position in the index of ended runs up to which it was examined, by partition, environment and ending. */
  readonly #examinedUpTo = new Map<string, number>();

  readonly #pauses = new Pauses();

  /** Moves the due data of a partition, each environment up to its share.
   *  @throws ServiceError archive_unavailable, or an error of Redis; the next round repeats the work */
  async round(partition: number, signal?: AbortSignal): Promise<RoundResult> {
    const before = this.#border(Date.now());
    const result: RoundResult = { events: 0, runs: 0, more: false, oldest: undefined };
    for (const { name: env } of await this.#environments()) {
      if (signal?.aborted) break;
      const scope = { partition, env, before, hotMs: this.deps.archive.hotMs };
      const rest = await this.#archiveEvents(scope, result, signal);
      if (rest !== undefined) {
        result.more = true;
        result.oldest = Math.min(result.oldest ?? rest, rest);
      }
      await this.#freeEndedMinutes(scope);
    }
    if (!signal?.aborted) await this.#archiveRunsOfEventsInUse(partition, before, result);
    return result;
  }

  /** Start of the oldest minute that is due and not archived, according to Redis; undefined if there is none. */
  async oldest(partition: number): Promise<number | undefined> {
    const { archivableEvents } = this.deps.store;
    const before = this.#border(Date.now());
    let oldest: number | undefined;
    for (const { name } of await this.#environments()) {
      const [first] = await archivableEvents.minutes(partition, name, before, 1);
      if (first !== undefined) oldest = Math.min(oldest ?? first, first);
    }
    return oldest;
  }

  /** Data created before this time is due. Whole minutes, unless HOT_HOURS is less than an hour, as dev mode permits. */
  #border(nowMs: number): number {
    const { hotMs } = this.deps.archive;
    const border = nowMs - hotMs;
    return hotMs < HOUR_MS ? border : floorTo(border, MINUTE_MS);
  }

  async #environments(): Promise<Environment[]> {
    return (await this.deps.store.environments.all()).filter(isLasting);
  }

  /** @returns start of the oldest remaining minute; undefined if there is none */
  async #archiveEvents(scope: Scope, result: Shipped, signal?: AbortSignal): Promise<number | undefined> {
    const { archivableEvents } = this.deps.store;
    const { partition, env, before } = scope;
    const turn: Turn = { left: TURN_EVENTS, result, signal };
    for (;;) {
      const minutes = await archivableEvents.minutes(partition, env, before, MINUTES_AT_ONCE);
      for (const minute of minutes) {
        if (!(await this.#archiveMinute(scope, minute, turn))) return minute;
      }
      // The newest minute may be only partly due.
      if (minutes.length < MINUTES_AT_ONCE) return undefined;
    }
  }

  /** @returns whether all of the minute that is due was archived */
  async #archiveMinute(scope: Scope, minute: number, turn: Turn): Promise<boolean> {
    const { archivableEvents } = this.deps.store;
    const { partition, env, before } = scope;
    const groups = await archivableEvents.groups(partition, env, minute);
    if (groups.length === 0) await archivableEvents.dropMinute(partition, env, minute);
    // Collects several groups, because most minutes have few events of each name.
    let waiting: GroupedPosition[] = [];
    for (const group of groups) {
      for (;;) {
        const room = EVENTS_OF_BURST.idle - waiting.length;
        const found = await archivableEvents.positions(partition, group, before, room);
        if (found.length === 0 && minute + MINUTE_MS <= before) await archivableEvents.dropGroup(partition, group);
        waiting.push(...found.map((position) => ({ ...position, ...group })));
        if (found.length < room) break;
        // Archived events leave the index, so the next read of the group returns the events after them.
        if (!(await this.#archiveAll(scope, waiting, turn))) return false;
        waiting = [];
      }
    }
    return this.#archiveAll(scope, waiting, turn);
  }

  /** @returns false if the turn ended first */
  async #archiveAll(scope: Scope, found: readonly GroupedPosition[], turn: Turn): Promise<boolean> {
    for (let done = 0; done < found.length; ) {
      if (turn.left <= 0 || turn.signal?.aborted) return false;
      const count = await this.#archiveBurst(scope, found.slice(done), turn);
      if (count === 0) return false;
      done += count;
      turn.left -= count;
    }
    return true;
  }

  /** Archives the first events, as many as may go between two pauses.
   *  @returns number of archived events; 0 if the environment is being deleted */
  async #archiveBurst(scope: Scope, found: readonly GroupedPosition[], { result, signal }: Turn): Promise<number> {
    const { store, archive } = this.deps;
    const environment = await store.environments.read(scope.env);
    if (!environment || !isLasting(environment)) return 0;
    const burst = found.slice(0, EVENTS_OF_BURST[this.#pauses.isIdle ? 'idle' : 'busy']);
    const age = scope.before - (found[0]?.minute ?? scope.before);
    const isLate = age > Math.max(LATE_MIN_MS, LATE_SHARE * scope.hotMs);
    let count = 0;
    await this.#timed(result, isLate, async () => {
      const deps = { ...store, shipments: archive.shipments };
      const shipped: Shipped[] = [];
      // Both loops take their next portion from the same generator.
      const portions = this.#portionsOf(scope, burst);
      const ship = async () => {
        for await (const portion of portions) {
          if (signal?.aborted) return;
          shipped.push(await archiveEvents(scope, portion, deps, Date.now()));
          count += portion.length;
        }
      };
      await Promise.all(Array.from({ length: PORTIONS_AT_ONCE }, ship));
      return { events: sum(shipped, ({ events }) => events), runs: sum(shipped, ({ runs }) => runs) };
    });
    return count;
  }

  async *#portionsOf({ env }: Scope, found: readonly GroupedPosition[]): AsyncGenerator<GroupedPosition[]> {
    for (let done = 0; done < found.length; ) {
      const next = found.slice(done, done + EVENTS_OF_PORTION);
      const count = await this.deps.store.archivableEvents.countWithin(env, next, BYTES_OF_PORTION);
      yield next.slice(0, count);
      done += count;
    }
  }

  /** Archives runs of events that were archived while runs were active, or were re-run since. */
  async #archiveRunsOfEventsInUse(
    partition: number,
    before: number,
    result: Shipped & { more: boolean },
  ): Promise<void> {
    const { store, archive } = this.deps;
    const { eventsInUse, archivableRuns } = store;
    const due = await eventsInUse.due(partition, Date.now(), IN_USE_AT_ONCE);
    for (const event of due) {
      const scope = { partition, env: event.env, before, hotMs: archive.hotMs };
      await this.#timed(result, false, async () => {
        const deps = { archivableRuns, shipments: archive.shipments };
        const { runs, again } = await archiveRunsOf(scope, event, deps, Date.now());
        if (again === undefined) await eventsInUse.release(event);
        else await eventsInUse.postpone(event, again);
        return { events: 0, runs };
      });
    }
    if (due.length === IN_USE_AT_ONCE) result.more = true;
  }

  /** Examines the old minutes of the index of ended runs in turn: a minute that still has a run is examined again later. */
  async #freeEndedMinutes({ partition, env, before }: Scope): Promise<void> {
    const { archivableRuns } = this.deps.store;
    for (const ending of ENDINGS) {
      const key = `${partition}:${ending}:${env}`;
      const from = this.#examinedUpTo.get(key) ?? 0;
      const limit = ENDED_MINUTES_AT_ONCE;
      const minutes = await archivableRuns.freeMinutes(partition, env, ending, { from, upTo: before, limit });
      const last = minutes.at(-1);
      if (last === undefined || minutes.length < limit) this.#examinedUpTo.delete(key);
      else this.#examinedUpTo.set(key, last + 1);
    }
  }

  async #timed(result: Shipped, isLate: boolean, work: () => Promise<Shipped>): Promise<void> {
    const beganAt = performance.now();
    const shipped = await work();
    const durationMs = performance.now() - beganAt;
    result.events += shipped.events;
    result.runs += shipped.runs;
    this.deps.onShipped?.(shipped, durationMs);
    if (shipped.events + shipped.runs > 0) await this.#pauses.after(durationMs, isLate);
  }
}

/** Whether the environment is not being deleted. */
function isLasting({ deletingAt }: Environment): boolean {
  return deletingAt === undefined;
}
