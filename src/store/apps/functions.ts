/** Registered functions of all apps of an environment. Pauses are stored separately, because registrations do not change them. */

import type { ChainableCommander } from 'ioredis';
import { ServiceError } from '../../errors.ts';
import type { AppFunction, FunctionSettings, RefusedFunction } from '../../model/apps/app.ts';
import { quotaExceeded } from '../../model/apps/quotas.ts';
import { inPipelines, replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import { KeyedQueue } from '../redis/keyed-queue.ts';
import { Repository } from '../redis/repository.ts';
import type { TriggerHistory } from './trigger-history.ts';

export interface Replaced {
  registered: AppFunction[];
  refused: RefusedFunction[];
  /** Whether anything changed. */
  modified: boolean;
  /** IDs of the changed functions, including archived ones. */
  changed: string[];
  /** The app's functions before the change. */
  previous: AppFunction[];
}

/** Suffix after the time of a pause: queued runs do not start. */
const HELD = ':held';
/** Suffix after the time of a pause: queued runs are being cancelled. A time in ms follows. */
const CANCELLED = ':cancelled-before-';

const TRIES_MAX = 20;

/** Deleted destinations whose runs show their names. */
const ARCHIVED_DESTINATIONS_MAX = 100;

/** Functions by ID, without their pauses, and the version at which they were read; '' if the environment has none. */
interface Known {
  version: string;
  functions: Map<string, AppFunction>;
}

interface Change {
  /** Added or replaced. */
  given: readonly AppFunction[];
  removed: readonly string[];
}

export class Functions extends Repository<ScriptedRedis, { history: TriggerHistory }> {
  /** Changes of one process run one after the other, so that they do not conflict. */
  readonly #queue = new KeyedQueue();

  /** Increases with every change: functions read at a version are valid as long as the version is the same. */
  async version(env: string): Promise<number> {
    return Number((await this.redis.get(this.keys.functionsVersion(env))) ?? 0);
  }

  /** All functions, including archived ones, and the version at which they were read. */
  async all(env: string): Promise<{ version: number; functions: AppFunction[] }> {
    const { functionsVersion, functions, pausedFunctions, functionSettings } = this.keys;
    const reading = this.redis.multi().get(functionsVersion(env)).hvals(functions(env)).hgetall(pausedFunctions(env));
    const found = replies<unknown>(await reading.hgetall(functionSettings(env)).exec());
    const [version, texts, paused, set] = found as [string | null, string[], ...Record<string, string>[]];
    // A function may have any ID, such as `constructor`.
    const pauses = new Map(Object.entries(paused ?? {}));
    const settings = new Map(Object.entries(set ?? {}));
    const read = (text: string) => toFunction(text, (id) => ({ pause: pauses.get(id), settings: settings.get(id) }));
    return { version: Number(version ?? 0), functions: texts.map(read) };
  }

  async read(env: string, id: string): Promise<AppFunction | undefined> {
    const { functions, pausedFunctions, functionSettings } = this.keys;
    const reading = this.redis.multi().hget(functions(env), id).hget(pausedFunctions(env), id);
    const [text, pause, settings] = replies<string | null>(await reading.hget(functionSettings(env), id).exec());
    return text ? toFunction(text, () => ({ pause, settings })) : undefined;
  }

  /** Replaces the live functions of an app; functions that it no longer registers are archived.
   *  @param most maximum number of live functions in the environment, and of stored archived ones
   *  @param unusable functions of the app to leave unchanged; if one has no ID, none is archived
   *  @returns the registered functions; a function whose ID belongs to another app is refused
   *  @throws ServiceError quota_exceeded */
  async replaceForApp(
    env: string,
    app: string,
    given: readonly AppFunction[],
    most: number,
    unusable: readonly RefusedFunction[] = [],
  ): Promise<Replaced> {
    return this.#change(env, async ({ functions: known }) => {
      const refused = given.flatMap(({ id }) => ownerProblem(known.get(id), app) ?? []);
      const taken = new Set(refused.map(({ id }) => id));
      const functions = given.filter(({ id }) => !taken.has(id));
      checkQuota(env, app, functions, [...known.values()], most);
      const kept = new Set<string | null>([...functions, ...unusable].map(({ id }) => id));
      const previous = [...known.values()].filter((fn) => fn.app === app && !fn.destination);
      const gone = kept.has(null) ? [] : previous.filter((fn) => !fn.archived && !kept.has(fn.id));
      const wanted = [...functions, ...gone.map((fn) => ({ ...fn, archived: true }))];
      const changed = wanted.filter((fn) => JSON.stringify(known.get(fn.id)) !== JSON.stringify(fn));
      const modified = changed.length > 0;
      const removed = modified ? await this.#removable(env, [...known.values()], kept, most) : [];
      const ids = changed.map(({ id }) => id);
      return { given: changed, removed, result: { registered: functions, refused, modified, changed: ids, previous } };
    });
  }

  /** Adds or replaces an endpoint. Endpoints are created by requests, so they have their own quota and never use up that of apps.
   *  @param most maximum number of endpoints in the environment
   *  @throws ServiceError registration_invalid when another app has a function with this ID, quota_exceeded */
  async putEndpoint(env: string, fn: AppFunction, most: number): Promise<void> {
    await this.#change(env, async ({ functions: known }) => {
      const before = known.get(fn.id);
      const refused = ownerProblem(before, before?.endpoint ? fn.app : undefined);
      if (refused) throw new ServiceError('registration_invalid', { detail: refused.problem });
      const others = [...known.values()].filter(({ id, endpoint, archived }) => endpoint && !archived && id !== fn.id);
      if (others.length >= most) {
        const what = `The environment "${env}" has ${others.length} endpoints`;
        throw quotaExceeded('functions', most, others.length, what, 'Give endpoints with many paths one ID');
      }
      return { given: [fn], removed: [], result: undefined };
    });
  }

  /** Creates, changes or archives a destination, which has a quota of its own.
   *  @param most maximum number of live destinations in the environment; undefined: no new one is created
   *  @throws ServiceError quota_exceeded, and what `change` throws */
  async changeDestination<Fn extends AppFunction>(
    env: string,
    id: string,
    most: number | undefined,
    change: (before: AppFunction | undefined) => Fn,
  ): Promise<Fn> {
    return this.#change(env, async ({ functions: known }) => {
      const result = change(known.get(id));
      const all = [...known.values()].filter((fn) => fn.destination && fn.id !== id);
      const live = all.filter(({ archived }) => !archived).length;
      if (most !== undefined && live >= most) {
        const what = `The environment "${env}" has ${live} destinations`;
        throw quotaExceeded('destinations', most, live, what, 'Delete those that are no longer used');
      }
      const removed = result.archived ? await this.#removable(env, all, new Set(), ARCHIVED_DESTINATIONS_MAX) : [];
      return { given: [result], removed, result };
    });
  }

  /** Other processes change functions too: if the functions have changed since they were read, the change is computed again. @throws Error if
   *  other processes keep changing them */
  #change<Result>(env: string, decide: (known: Known) => Promise<Change & { result: Result }>): Promise<Result> {
    return this.#queue.run(env, async () => {
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const known = await this.#known(env);
        const { result, ...change } = await decide(known);
        if (change.given.length + change.removed.length === 0) return result;
        if (await this.#write(env, known, change)) return result;
      }
      throw new Error(`the functions of ${env} are being changed all the time`);
    });
  }

  async #known(env: string): Promise<Known> {
    const reading = this.redis.multi().get(this.keys.functionsVersion(env)).hvals(this.keys.functions(env));
    const [version, texts] = replies<unknown>(await reading.exec()) as [string | null, string[]];
    return {
      version: version ?? '',
      functions: new Map(texts.map((text) => toFunction(text)).map((fn) => [fn.id, fn])),
    };
  }

  /** @returns whether the functions were unchanged */
  async #write(env: string, { version, functions: known }: Known, { given, removed }: Change): Promise<boolean> {
    const { functions, pausedFunctions, functionSettings, triggerHistory, functionsVersion } = this.keys;
    const now = Date.now();
    const changes = given.map((fn) => ({ known: known.get(fn.id), given: fn }));
    const { histories, ttlMs } = await this.deps.history.after(env, changes, now);
    const changed = await this.redis.changeFunctions(
      functions(env),
      pausedFunctions(env),
      functionSettings(env),
      triggerHistory(env),
      functionsVersion(env),
      version,
      now,
      ttlMs,
      removed.length,
      given.length,
      ...removed,
      ...given.flatMap((fn) => [fn.id, JSON.stringify(fn)]),
      ...histories,
    );
    return changed === 1;
  }

  /** A version begins with the time, so it never equals one of a deleted environment with the same name. */
  #withNewVersion(writing: ChainableCommander, env: string): ChainableCommander {
    const key = this.keys.functionsVersion(env);
    return writing.setnx(key, Date.now()).incr(key);
  }

  /** Archived functions beyond the maximum that have no active run. Bounds the data of an app that registers under new IDs every time. */
  async #removable(
    env: string,
    known: readonly AppFunction[],
    kept: ReadonlySet<string | null>,
    most: number,
  ): Promise<string[]> {
    const archived = known.filter((fn) => fn.archived && !kept.has(fn.id)).map(({ id }) => id);
    const many = archived.slice(0, Math.max(0, archived.length - most));
    const partitions = this.keys.all();
    const counts = await inPipelines<number>(
      this.redis,
      many.flatMap((id) =>
        partitions.flatMap((keys) => [
          ['zcard', keys.runIndex(env, 'active', id)],
          ['hexists', keys.offloadedRunsByFunction(env), id],
        ]),
      ),
    );
    const ofEach = 2 * partitions.length;
    return many.filter((_, i) => counts.slice(i * ofEach, (i + 1) * ofEach).every((count) => count === 0));
  }

  /** Pauses the function: no event triggers it. Idempotent.
   *  @param queued whether queued runs start, wait until the function is resumed, or are being cancelled; undefined: unchanged, by
   *  default they start */
  async pause(env: string, id: string, nowMs: number, queued?: 'run' | 'hold' | 'cancel'): Promise<void> {
    const key = this.keys.pausedFunctions(env);
    const before = (await this.redis.hget(key, id)) ?? undefined;
    const rest = { run: '', hold: HELD, cancel: `${CANCELLED}${nowMs}` };
    const pause =
      queued === undefined && before ? before : (before?.split(':')[0] ?? nowMs) + (queued ? rest[queued] : '');
    const writing = this.redis.multi().hset(key, id, pause);
    replies(await this.#withNewVersion(writing, env).exec());
  }

  async set(env: string, id: string, settings: FunctionSettings): Promise<void> {
    const key = this.keys.functionSettings(env);
    const writing = this.redis.multi();
    if (Object.keys(settings).length === 0) writing.hdel(key, id);
    else writing.hset(key, id, JSON.stringify(settings));
    replies(await this.#withNewVersion(writing, env).exec());
  }

  async resume(env: string, id: string): Promise<void> {
    const writing = this.redis.multi().hdel(this.keys.pausedFunctions(env), id);
    replies(await this.#withNewVersion(writing, env).exec());
  }
}

/** Changes of a function by people, as stored. */
interface Changes {
  pause?: string | null | undefined;
  settings?: string | null | undefined;
}

function toFunction(text: string, changesOf?: (id: string) => Changes): AppFunction {
  const fn = JSON.parse(text) as AppFunction;
  const { pause, settings } = changesOf?.(fn.id) ?? {};
  return {
    ...fn,
    ...(pause && readPause(pause)),
    ...(settings && { settings: JSON.parse(settings) as FunctionSettings }),
  };
}

function readPause(text: string): Pick<AppFunction, 'pausedAt' | 'held' | 'cancelQueuedBefore'> {
  const [, before] = text.split(CANCELLED);
  return {
    pausedAt: Number.parseInt(text, 10),
    ...(text.endsWith(HELD) && { held: true }),
    ...(before !== undefined && { cancelQueuedBefore: Number(before) }),
  };
}

/** An app may keep its number of functions even if the limit was lowered. */
function checkQuota(
  env: string,
  app: string,
  functions: readonly AppFunction[],
  known: readonly AppFunction[],
  most: number,
): void {
  const live = known.filter((fn) => !fn.archived && !fn.endpoint && !fn.destination);
  const others = live.filter((fn) => fn.app !== app).length;
  const there = others + functions.length;
  if (there <= most || there <= live.length) return;
  const what = `The environment "${env}" would have ${there} functions`;
  throw quotaExceeded('functions', most, there, what, 'Delete apps that are no longer used');
}

/** @param app undefined for an endpoint, whose ID no app may have registered */
function ownerProblem(holder: AppFunction | undefined, app: string | undefined): RefusedFunction | undefined {
  if (!holder || holder.archived || holder.app === app) return undefined;
  const problem = `the function ID "${holder.id}" belongs to the app "${holder.app}"; rename the function, or one of the apps`;
  return { id: holder.id, problem };
}
