/** Events by ID from their acceptance on, whether stored or still in an ingest job. */
import { type EventRecord, recordOf } from '../model/events/event.ts';
import { Composed } from '../model/values/composed.ts';
import { parseStored } from '../model/values/json.ts';
import type { FoundEvent } from '../store/events/events.ts';
import type { QueuedEvents } from '../store/events/queued-events.ts';
import type { History } from './history.ts';

export class AcceptedEvents extends Composed<{
  stored: Pick<History['events'], 'read' | 'record' | 'present'>;
  queued: Pick<QueuedEvents, 'find' | 'present'>;
}> {
  /** @throws ServiceError archive_unavailable */
  async read(env: string, id: string): Promise<FoundEvent | undefined> {
    const stored = await this.deps.stored.read(env, id);
    if (stored) return stored;
    const queued = await this.deps.queued.find(env, id);
    if (queued) return { ...recordOf(queued, parseStored), source: queued.source, duplicates: 0 };
    // The event may have been stored in the meantime.
    return this.deps.stored.read(env, id);
  }

  /** @throws ServiceError archive_unavailable */
  async record(env: string, id: string): Promise<EventRecord | undefined> {
    const stored = await this.deps.stored.record(env, id);
    if (stored) return stored;
    const queued = await this.deps.queued.find(env, id);
    return queued ? recordOf(queued) : this.deps.stored.record(env, id);
  }

  /** IDs of the events that have been accepted and are still stored. Any other event was never accepted, or is gone.
   *  @throws ServiceError archive_unavailable, overloaded: it is unknown now */
  async present(env: string, ids: readonly string[]): Promise<Set<string>> {
    const present = await this.deps.stored.present(env, ids);
    const others = () => ids.filter((id) => !present.has(id));
    if (others().length === 0) return present;
    for (const id of await this.deps.queued.present(env, others())) present.add(id);
    // Some may have been stored in the meantime.
    for (const id of await this.deps.stored.present(env, others())) present.add(id);
    return present;
  }
}
