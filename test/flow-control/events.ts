/** Many events, and what has happened for them. */

import { RUN_FIELDS } from '../../src/store/keys/run-fields.ts';
import { openStore } from '../support/own-store.ts';
import { findKeys } from '../support/redis.ts';
import type { Service } from '../support/service.ts';

const SENT_AT_ONCE = 250;

/** @returns their internal IDs */
export async function sendAll(service: Service, count: number, event: (n: number) => object): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += SENT_AT_ONCE) {
    const events = Array.from({ length: Math.min(SENT_AT_ONCE, count - n) }, (_, i) => event(n + i));
    const { status, body } = await service.post(service.eventPath, events);
    if (status !== 200) throw new Error(`sending got ${status}: ${JSON.stringify(body)}`);
    ids.push(...body.ids);
  }
  return ids;
}

/** Number of events with the name whose runs are decided. */
export async function ingested(service: Service, name: string): Promise<number> {
  const keys = await findKeys(service.redis, service.prefix, new RegExp(`^:events:production:${name}$`));
  const counts = await Promise.all(keys.map((key) => service.redis.zcard(key)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** @returns the IDs of a function's runs by the events that triggered them */
export async function runsOf(service: Service, functionId: string): Promise<Map<string, string>> {
  const { redis, prefix } = service;
  const keys = await findKeys(redis, prefix, /^:run:production:[0-9A-Z]{26}$/);
  const runs = new Map<string, string>();
  const { functionId: ofFunction, eventId: ofEvent } = RUN_FIELDS;
  for (const key of keys) {
    const [found, eventId] = await redis.hmget(key, ofFunction, ofEvent);
    if (found === functionId && eventId) runs.set(eventId, key.slice(-26));
  }
  return runs;
}

/** Each event has a run of the function or a decision about it: those that have neither, or both. */
export async function undecided(
  service: Service,
  runs: ReadonlyMap<string, string>,
  eventIds: Iterable<string>,
): Promise<string[]> {
  const { decisions, redis } = await openStore(service.prefix);
  try {
    const found: string[] = [];
    for (const id of eventIds) {
      const isDecided = (await decisions.of('production', id)).length > 0;
      if (isDecided === runs.has(id)) found.push(`${id}: ${isDecided ? 'both' : 'neither'}`);
    }
    return found;
  } finally {
    redis.disconnect();
  }
}
