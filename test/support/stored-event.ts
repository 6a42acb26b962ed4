/** Keys of stored events (src/store/events/event-location.ts), for tests that read or delete them. */
import type { Service } from './service.ts';

type At = Pick<Service, 'redis' | 'prefix'>;

/** The hash that has the event as a field. */
export function bucketKey({ prefix }: At, id: string, env = 'production'): string {
  return `${prefix}:event-bucket:${env}:${id.slice(0, 8)}`;
}

export function overflowKey({ prefix }: At, id: string, env = 'production'): string {
  return `${prefix}:overflow-event:${env}:${id}`;
}

/** Text of the event in its bucket; null: not there. */
export function storedText(at: At, id: string, env = 'production'): Promise<string | null> {
  return at.redis.hget(bucketKey(at, id, env), id.slice(8));
}
