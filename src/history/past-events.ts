/** Events since a time, hot or archived: a wait or a cancel trigger looks back to the beginning of its run. */
import type { Archive } from '../archive/archive.ts';
import { FIRST_ID } from '../archive/event-pages.ts';
import { Composed } from '../model/values/composed.ts';
import type { Events, NamedEvent } from '../store/events/events.ts';
import type { Position } from '../store/redis/pagination.ts';
import { archiveBorder } from './merged-page.ts';

/** Few, because each may have half a megabyte. */
const READ_AT_ONCE = 10;

export class PastEvents
  extends Composed<{
    events: Pick<Events, 'since'>;
    archive: Archive;
  }>
  implements Pick<Events, 'since'>
{
  /** Each event once, oldest first, except for events archived in the meantime.
   *  @throws ServiceError archive_unavailable, if the range may include archived events */
  async *since(env: string, name: string, receivedAtMs: number, limit: number): AsyncGenerator<NamedEvent[]> {
    const isHot = receivedAtMs >= archiveBorder(this.deps.archive, Date.now());
    const seen = new Set<string>();
    const start = { at: Math.max(0, receivedAtMs), id: FIRST_ID };
    if (!isHot) yield* this.#archived(env, name, start, limit, seen);
    for await (const page of this.deps.events.since(env, name, receivedAtMs, limit)) {
      const fresh = page.filter(({ internalId }) => !seen.has(internalId)).slice(0, limit - seen.size);
      for (const { internalId } of fresh) seen.add(internalId);
      if (fresh.length > 0) yield fresh;
      if (seen.size >= limit) return;
    }
    // Some may have left Redis before they were read.
    if (!isHot) yield* this.#archived(env, name, start, limit, seen);
  }

  async *#archived(
    env: string,
    name: string,
    start: Position,
    limit: number,
    seen: Set<string>,
  ): AsyncGenerator<NamedEvent[]> {
    const { eventsSince, events } = this.deps.archive;
    const positions = await eventsSince.positions(env, name, start, limit);
    const ids = positions.map(({ id }) => id).filter((id) => !seen.has(id));
    for (let done = 0; done < ids.length && seen.size < limit; done += READ_AT_ONCE) {
      const some = ids.slice(done, done + READ_AT_ONCE);
      const found = await events.readMany(env, some, Date.now());
      const page = some.flatMap((id): NamedEvent[] => {
        const event = found.get(id);
        return event ? [{ env, name, ...event }] : [];
      });
      for (const id of some) seen.add(id);
      if (page.length > 0) yield page;
    }
  }
}
