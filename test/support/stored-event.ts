/** Locations of events in Redis (src/store/events/event-location.ts), for tests that read or delete stored data. */
import type { Service } from './service.ts';

type At = Pick<Service, 'redis' | 'keys'>;

/** Key of the hash that contains the event. */
export function bucketKey({ keys }: At, id: string, env = 'production'): string {
  return `${keys.of(id).prefix}:event-bucket:${env}:${id.slice(0, 8)}`;
}

export function overflowKey({ keys }: At, id: string, env = 'production'): string {
  return `${keys.of(id).prefix}:overflow-event:${env}:${id}`;
}

/** Its text in the bucket; null: missing. */
export function storedText(at: At, id: string, env = 'production'): Promise<string | null> {
  return at.redis.hget(bucketKey(at, id, env), id.slice(8));
}
