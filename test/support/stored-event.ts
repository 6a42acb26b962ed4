/** Where Redis has an event (src/store/events/event-location.ts), for tests that look at or take away what is stored. */
import type { Service } from './service.ts';

type At = Pick<Service, 'redis' | 'prefix'>;

/** The hash that it is a field of. */
export function bucketKey({ prefix }: At, id: string, env = 'production'): string {
  return `${prefix}:event-bucket:${env}:${id.slice(0, 8)}`;
}

export function keptKey({ prefix }: At, id: string, env = 'production'): string {
  return `${prefix}:overflow-event:${env}:${id}`;
}

/** As its bucket has it; null: it is not in there. */
export function storedText(at: At, id: string, env = 'production'): Promise<string | null> {
  return at.redis.hget(bucketKey(at, id, env), id.slice(8));
}
