/** Held registrations (model/apps/held-registration.ts): few per app and only for a while, because anybody can cause them. The oldest stay, so a
 *  flood of forged registrations displaces none of them. Later registrations are rejected and counted; their origin can be allowed without an
 *  entry here. */
import type { HeldRegistration, RefusedRegistrations } from '../../model/apps/held-registration.ts';
import { WEEK_MS } from '../../model/values/time.ts';
import { ORIGIN_LENGTH_MAX } from '../../origin-patterns.ts';
import { changeField } from '../redis/changed-field.ts';
import { Repository } from '../redis/repository.ts';

const KEPT_MS = WEEK_MS;
export const HELD_PER_APP_MAX = 20;
/** Maximum number of origins of one registration. */
const ORIGINS_MAX = 10;
/** Maximum number of apps with held registrations. */
const APPS_MAX = 200;

export interface HeldOfApp {
  /** Newest first. */
  held: HeldRegistration[];
  refused?: RefusedRegistrations;
}

/** `known`: the registration was already held. */
export type Holding = 'first' | 'known' | 'refused';

export class HeldRegistrations extends Repository {
  async byApp(env: string, nowMs: number): Promise<Map<string, HeldOfApp>> {
    const texts = await this.redis.hgetall(this.keys.heldRegistrations(env));
    return new Map(Object.entries(texts).map(([app, text]) => [app, recent(text, nowMs)]));
  }

  /** Newest first. */
  async all(env: string, nowMs: number): Promise<HeldRegistration[]> {
    return heldOfAll(await this.byApp(env, nowMs));
  }

  async hold(env: string, given: Omit<HeldRegistration, 'firstAt' | 'lastAt'>, nowMs: number): Promise<Holding> {
    if (!isConfirmable(given)) return 'refused';
    const key = this.keys.heldRegistrations(env);
    let holding: Holding = 'refused';
    const change = (text: string | undefined) => {
      const present = recent(text, nowMs);
      const { holding: found, ...rest } = holdAmong(present, given, nowMs);
      holding = found;
      return JSON.stringify(rest);
    };
    const room = { key, field: given.app, fieldsMax: APPS_MAX };
    if (!(await changeField(this.redis, room, change))) {
      await this.#removeOld(env, nowMs);
      if (!(await changeField(this.redis, room, change))) return 'refused';
    }
    await this.redis.pexpire(key, KEPT_MS);
    return holding;
  }

  /** Releases the app's held registrations that `isMeant` selects; without it, all.
   *  @returns whether there was one */
  async release(env: string, app: string, isMeant: (held: HeldRegistration) => boolean = () => true): Promise<boolean> {
    let isReleased = false;
    await changeField(this.redis, { key: this.keys.heldRegistrations(env), field: app }, (text) => {
      const { held, ...refused } = recent(text, 0);
      const rest = held.filter((registration) => !isMeant(registration));
      isReleased = rest.length < held.length;
      if (!isReleased) return text;
      return rest.length === 0 ? undefined : JSON.stringify({ held: rest, ...refused });
    });
    return isReleased;
  }

  async find(env: string, id: string, nowMs: number): Promise<HeldRegistration | undefined> {
    return (await this.all(env, nowMs)).find((held) => held.id === id);
  }

  /** Removes apps whose held registrations have all expired. */
  async #removeOld(env: string, nowMs: number): Promise<void> {
    const key = this.keys.heldRegistrations(env);
    for (const [app, { held }] of await this.byApp(env, nowMs)) {
      if (held.length > 0) continue;
      await changeField(this.redis, { key, field: app }, (text) =>
        recent(text, nowMs).held.length > 0 ? text : undefined,
      );
    }
  }
}

function isConfirmable({ origins }: Pick<HeldRegistration, 'origins'>): boolean {
  return origins.length <= ORIGINS_MAX && origins.every(({ length }) => length <= ORIGIN_LENGTH_MAX);
}

/** Newest first. */
export function heldOfAll(byApp: ReadonlyMap<string, HeldOfApp>): HeldRegistration[] {
  return newestFirst([...byApp.values()].flatMap(({ held }) => held));
}

function holdAmong(
  { held, refused }: HeldOfApp,
  given: Omit<HeldRegistration, 'firstAt' | 'lastAt'>,
  nowMs: number,
): HeldOfApp & { holding: Holding } {
  const before = held.find(({ id }) => id === given.id);
  if (before === undefined && held.length >= HELD_PER_APP_MAX) {
    return {
      holding: 'refused',
      held,
      refused: { count: (refused?.count ?? 0) + 1, lastAt: nowMs, lastUrl: given.url },
    };
  }
  const latest = { ...given, firstAt: before?.firstAt ?? nowMs, lastAt: nowMs };
  const others = held.filter((other) => other !== before);
  return { holding: before ? 'known' : 'first', held: [latest, ...others], ...(refused && { refused }) };
}

function recent(text: string | undefined, nowMs: number): HeldOfApp {
  const stored = text === undefined ? undefined : (JSON.parse(text) as HeldOfApp | unknown[]);
  // Arrays are of an unreleased state of this format; their apps register again.
  if (stored === undefined || Array.isArray(stored)) return { held: [] };
  const { held, refused } = stored;
  const isRecent = ({ lastAt }: { lastAt: number }) => nowMs - lastAt < KEPT_MS;
  return { held: newestFirst(held.filter(isRecent)), ...(refused && isRecent(refused) && { refused }) };
}

function newestFirst(held: readonly HeldRegistration[]): HeldRegistration[] {
  return held.toSorted((a, b) => b.lastAt - a.lastAt);
}
