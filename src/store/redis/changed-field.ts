/** Fields of hashes that several processes read, change and write: no change is lost, and no hash gets more fields than it may have. */
import type { ScriptedRedis } from './scripts.ts';

const TRIES_MAX = 20;

/** @param change its new text, given the present one (undefined: there is none). Undefined removes the field. It may be called again
 *  @param fieldsMax a field that is not there is only added while there are fewer
 *  @returns whether there was room for it
 *  @throws Error when others do not stop changing the field */
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
