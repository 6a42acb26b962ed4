/** Registrations that wait for a confirmation (model/apps/held-registration.ts): few for each app, and not for long, since anybody can cause them. */
import type { HeldRegistration } from '../../model/apps/held-registration.ts';
import { changeField } from '../redis/changed-field.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

const KEPT_MS = 7 * 86_400_000;
/** Further ones replace the oldest. */
export const HELD_PER_APP_MAX = 5;
/** Apps with held registrations. */
const APPS_MAX = 200;

export class HeldRegistrations {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Newest first. */
  async all(env: string, nowMs: number): Promise<HeldRegistration[]> {
    const texts = await this.#redis.hvals(this.#keys.heldRegistrations(env));
    return texts.flatMap((text) => recent(text, nowMs)).sort((a, b) => b.lastAt - a.lastAt);
  }

  /** Newest first. */
  async of(env: string, app: string, nowMs: number): Promise<HeldRegistration[]> {
    const text = await this.#redis.hget(this.#keys.heldRegistrations(env), app);
    return recent(text, nowMs).sort((a, b) => b.lastAt - a.lastAt);
  }

  /** @returns whether it is the first one of the app at this URL */
  async hold(env: string, given: Omit<HeldRegistration, 'firstAt' | 'lastAt'>, nowMs: number): Promise<boolean> {
    const key = this.#keys.heldRegistrations(env);
    const { app, id } = given;
    let isFirst = false;
    const isKept = await changeField(this.#redis, { key, field: app, fieldsMax: APPS_MAX }, (text) => {
      const held = recent(text, nowMs).sort((a, b) => b.lastAt - a.lastAt);
      const before = held.find((one) => one.id === id);
      isFirst = before === undefined;
      const others = held.filter((one) => one !== before).slice(0, HELD_PER_APP_MAX - 1);
      return JSON.stringify([{ ...given, firstAt: before?.firstAt ?? nowMs, lastAt: nowMs }, ...others]);
    });
    await this.#redis.pexpire(key, KEPT_MS);
    return isKept && isFirst;
  }

  /** Those of the app that `isMeant` says wait no longer; absent: all.
   *  @returns whether there was one */
  async release(env: string, app: string, isMeant: (held: HeldRegistration) => boolean = () => true): Promise<boolean> {
    let isReleased = false;
    await changeField(this.#redis, { key: this.#keys.heldRegistrations(env), field: app }, (text) => {
      const held = recent(text, 0);
      const rest = held.filter((one) => !isMeant(one));
      isReleased = rest.length < held.length;
      if (!isReleased) return text;
      return rest.length === 0 ? undefined : JSON.stringify(rest);
    });
    return isReleased;
  }

  async find(env: string, id: string, nowMs: number): Promise<HeldRegistration | undefined> {
    return (await this.all(env, nowMs)).find((held) => held.id === id);
  }
}

function recent(text: string | null | undefined, nowMs: number): HeldRegistration[] {
  const held = text == null ? [] : (JSON.parse(text) as HeldRegistration[]);
  return held.filter(({ lastAt }) => nowMs - lastAt < KEPT_MS);
}
