/** Versions of apps, people's decisions about them, and the numbers of runs that are pinned to them (model/apps/versions.ts). */
import {
  type AppVersion,
  type GivenRamp,
  type Pin,
  pinText,
  type RampEnds,
  surplusOf,
  type VersionChoices,
} from '../../model/apps/versions.ts';
import type { Ending } from '../../model/runs/run.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { changeField } from '../redis/changed-field.ts';
import { inPipelines, replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** Fields that count the ends of runs on a version that ramps up (runs/lua/lib/count-end.lua). */
const COMPLETED: Ending['status'] = 'Completed';
const FAILED = ['Failed' satisfies Ending['status'], 'Paused'];
const ENDS_TTL_MS = DAY_MS;

export interface PinnedRuns {
  count: number;
  /** Creation of the oldest run, Unix milliseconds; undefined if there is none. */
  oldestAt: number | undefined;
}

export class AppVersions extends Repository {
  async choices(env: string, app: string): Promise<VersionChoices> {
    const text = await this.redis.hget(this.keys.versionChoices(env), app);
    return text === null ? {} : (JSON.parse(text) as VersionChoices);
  }

  /** Choices by app; apps without choices are absent. */
  async allChoices(env: string): Promise<Map<string, VersionChoices>> {
    const texts = await this.redis.hgetall(this.keys.versionChoices(env));
    return new Map(Object.entries(texts).map(([app, text]) => [app, JSON.parse(text) as VersionChoices]));
  }

  /** The ramps of these environments. */
  async ramps(envs: readonly string[]): Promise<{ env: string; app: string; ramp: GivenRamp }[]> {
    const found = await inPipelines<Record<string, string>>(
      this.redis,
      envs.map((env) => ['hgetall', this.keys.versionChoices(env)]),
    );
    return envs.flatMap((env, i) =>
      Object.entries(found[i] ?? {}).flatMap(([app, text]) => {
        const { ramp } = JSON.parse(text) as VersionChoices;
        return ramp ? [{ env, app, ramp }] : [];
      }),
    );
  }

  /** Starts counting how runs end on a version. */
  async startCountingEnds(env: string, pin: Pin): Promise<void> {
    const keys = this.#rampEnds(env, pin);
    const fresh = keys.flatMap((key) => [
      ['del', key],
      ['hset', key, COMPLETED, 0],
      ['pexpire', key, ENDS_TTL_MS],
    ]);
    await inPipelines(this.redis, fresh);
  }

  /** Continues counting, also in partitions that were added meanwhile. */
  async keepCountingEnds(env: string, pin: Pin): Promise<void> {
    const keys = this.#rampEnds(env, pin);
    await inPipelines(
      this.redis,
      keys.flatMap((key) => [
        ['hincrby', key, COMPLETED, 0],
        ['pexpire', key, ENDS_TTL_MS],
      ]),
    );
  }

  async ends(env: string, pin: Pin): Promise<RampEnds> {
    const keys = this.#rampEnds(env, pin);
    const found = await inPipelines<(string | null)[]>(
      this.redis,
      keys.map((key) => ['hmget', key, COMPLETED, ...FAILED]),
    );
    const sum = (counts: readonly (string | null)[]) => counts.reduce((all, count) => all + Number(count ?? 0), 0);
    return { ended: sum(found.flat()), failed: sum(found.flatMap(([, ...failed]) => failed)) };
  }

  #rampEnds(env: string, pin: Pin): string[] {
    return this.keys.all().map(({ rampEnds }) => rampEnds(env, pinText(pin)));
  }

  async choose(env: string, app: string, change: (choices: VersionChoices) => VersionChoices): Promise<void> {
    await changeField(this.redis, { key: this.keys.versionChoices(env), field: app }, (text) => {
      const changed = JSON.stringify(change(text === undefined ? {} : (JSON.parse(text) as VersionChoices)));
      return changed === '{}' ? undefined : changed;
    });
  }

  async read(env: string, { app, version }: Pin): Promise<AppVersion | undefined> {
    const text = await this.redis.hget(this.keys.appVersions(env, app), version);
    return text === null ? undefined : (JSON.parse(text) as AppVersion);
  }

  /** Latest registration first. */
  async all(env: string, app: string): Promise<AppVersion[]> {
    const texts = await this.redis.hvals(this.keys.appVersions(env, app));
    return texts.map((text) => JSON.parse(text) as AppVersion).sort((a, b) => b.seenAt - a.seenAt);
  }

  /** Stores a version, which keeps the time of its first registration, and removes those that are no longer needed.
   *  @param active the active version besides this one */
  async save(env: string, app: string, given: AppVersion, active: string | undefined): Promise<void> {
    const { functionsVersion } = this.keys;
    const key = this.keys.appVersions(env, app);
    let isNew = false;
    let isChanged = true;
    await changeField(this.redis, { key, field: given.version }, (text) => {
      const before = text === undefined ? undefined : (JSON.parse(text) as AppVersion);
      isNew = before === undefined;
      isChanged = JSON.stringify(before?.functions) !== JSON.stringify(given.functions);
      return JSON.stringify({ ...before, ...given, registeredAt: before?.registeredAt ?? given.registeredAt });
    });
    if (isNew) await this.#removeSurplus(env, app, given.version, active);
    if (!isChanged) return;
    // Makes processes read their functions again (jobs/functions/function-tables.ts).
    replies(await this.redis.multi().setnx(functionsVersion(env), Date.now()).incr(functionsVersion(env)).exec());
  }

  async #removeSurplus(env: string, app: string, added: string, active: string | undefined): Promise<void> {
    const others = (await this.all(env, app)).filter(({ version }) => version !== added);
    const runs = await this.pinnedRuns(
      env,
      others.map(({ version }) => ({ app, version })),
    );
    const counts = new Map(others.map(({ version }, i) => [version, (runs[i] as PinnedRuns).count]));
    const { ramp } = await this.choices(env, app);
    const surplus = surplusOf(others, { active, ramp }, counts);
    if (surplus.length > 0) await this.redis.hdel(this.keys.appVersions(env, app), ...surplus);
  }

  async recordActive(env: string, { app, version }: Pin, nowMs: number): Promise<void> {
    await changeField(this.redis, { key: this.keys.appVersions(env, app), field: version }, (text) =>
      text === undefined ? undefined : JSON.stringify({ ...(JSON.parse(text) as AppVersion), activeAt: nowMs }),
    );
  }

  /** Removes the data of a deleted app, except the versions on which runs end. */
  async removeUnused(env: string, app: string): Promise<void> {
    const pins = (await this.all(env, app)).map(({ version }) => ({ app, version }));
    const runs = await this.pinnedRuns(env, pins);
    const unused = pins.filter((_, i) => runs[i]?.count === 0).map(({ version }) => version);
    if (unused.length > 0) await this.redis.hdel(this.keys.appVersions(env, app), ...unused);
    await this.redis.hdel(this.keys.versionChoices(env), app);
  }

  /** The versions on which active runs end, with the number of these runs, most first. */
  async withPinnedRuns(envs: readonly string[]): Promise<(Pin & { env: string; count: number })[]> {
    const apps = await inPipelines<string[]>(
      this.redis,
      envs.map((env) => ['hkeys', this.keys.apps(env)]),
    );
    const ofApps = envs.flatMap((env, i) => (apps[i] ?? []).map((app) => ({ env, app })));
    const versions = await inPipelines<string[]>(
      this.redis,
      ofApps.map(({ env, app }) => ['hkeys', this.keys.appVersions(env, app)]),
    );
    const all = ofApps.flatMap((app, i) => (versions[i] ?? []).map((version) => ({ ...app, version })));
    const partitions = this.keys.all();
    const counts = await inPipelines<number>(
      this.redis,
      all.flatMap(({ env, ...pin }) => partitions.map((keys) => ['zcard', keys.pinnedRuns(env, pinText(pin))])),
    );
    const counted = all.map((version, i) => {
      const own = counts.slice(i * partitions.length, (i + 1) * partitions.length);
      return { ...version, count: own.reduce((sum, count) => sum + count, 0) };
    });
    return counted.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
  }

  /** The active runs that end on these versions, in the order of the versions. */
  async pinnedRuns(env: string, pins: readonly Pin[]): Promise<PinnedRuns[]> {
    const partitions = this.keys.all();
    const keys = pins.flatMap((pin) => partitions.map(({ pinnedRuns }) => pinnedRuns(env, pinText(pin))));
    const commands = keys.flatMap((key) => [
      ['zcard', key],
      ['zrange', key, 0, 0, 'WITHSCORES'],
    ]);
    const read = await inPipelines<number | string[]>(this.redis, commands);
    return pins.map((_, n) => {
      const own = read.slice(2 * n * partitions.length, 2 * (n + 1) * partitions.length);
      const counts = own.filter((reply) => typeof reply === 'number');
      const oldest = own.flatMap((reply) => (typeof reply === 'number' ? [] : reply.slice(1).map(Number)));
      return {
        count: counts.reduce((sum, count) => sum + count, 0),
        oldestAt: oldest.length > 0 ? Math.min(...oldest) : undefined,
      };
    });
  }
}
