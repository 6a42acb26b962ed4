/** Optimistic read-modify-write of hash fields: no concurrent change is lost, and no hash exceeds its maximum number of fields. */
import type { ScriptedRedis } from './connection/scripts.ts';

const TRIES_MAX = 20;

/** @param change returns the new text for the current one (undefined: none); undefined removes the field. It may be called again
 *  @param fieldsMax maximum number of fields when a new one is added
 *  @returns false if there was no room
 *  @throws Error if other processes keep changing the field */
export async function changeField(
  redis: ScriptedRedis,
  { key, field, fieldsMax }: { key: string; field: string; fieldsMax?: number },
  change: (present: string | undefined) => string | undefined,
): Promise<boolean> {
  const bound = fieldsMax === undefined ? [] : [fieldsMax];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const present = (await redis.hget(key, field)) ?? undefined;
    const changed = change(present);
    if (changed === present) return true;
    const replaced = await redis.replaceField(key, field, present ?? '', changed ?? '', ...bound);
    if (replaced !== 0) return replaced === 1;
  }
  throw new Error(`the field ${field} of ${key} is being changed all the time`);
}
