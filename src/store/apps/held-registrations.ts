/** Registrations that wait for a confirmation (model/apps/held-registration.ts): few for each app, and not for long, since anybody can cause them. */
import type { HeldRegistration } from '../../model/apps/held-registration.ts';
import { type Redis, replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

const KEPT_MS = 7 * 86_400_000;
/** Further ones replace the oldest. */
export const HELD_PER_APP_MAX = 5;
/** Apps with held registrations. */
const APPS_MAX = 200;

export class HeldRegistrations {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
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
    const held = await this.of(env, app, nowMs);
    const before = held.find((one) => one.id === id);
    if (held.length === 0 && (await this.#redis.hlen(key)) >= APPS_MAX) return false;
    const others = held.filter((one) => one !== before).slice(0, HELD_PER_APP_MAX - 1);
    const all = [{ ...given, firstAt: before?.firstAt ?? nowMs, lastAt: nowMs }, ...others];
    replies(await this.#redis.multi().hset(key, app, JSON.stringify(all)).pexpire(key, KEPT_MS).exec());
    return before === undefined;
  }

  /** Those of the app that `isMeant` says wait no longer; absent: all.
   *  @returns whether there was one */
  async release(env: string, app: string, isMeant: (held: HeldRegistration) => boolean = () => true): Promise<boolean> {
    const key = this.#keys.heldRegistrations(env);
    const held = recent(await this.#redis.hget(key, app), 0);
    const rest = held.filter((one) => !isMeant(one));
    if (rest.length === held.length) return false;
    if (rest.length === 0) await this.#redis.hdel(key, app);
    else await this.#redis.hset(key, app, JSON.stringify(rest));
    return true;
  }

  async find(env: string, id: string, nowMs: number): Promise<HeldRegistration | undefined> {
    return (await this.all(env, nowMs)).find((held) => held.id === id);
  }
}

function recent(text: string | null, nowMs: number): HeldRegistration[] {
  const held = text === null ? [] : (JSON.parse(text) as HeldRegistration[]);
  return held.filter(({ lastAt }) => nowMs - lastAt < KEPT_MS);
}
