/** Events by ID, hot or archived. An archived event whose runs are still active also has a copy in Redis. */
import type { Archive } from '../archive/archive.ts';
import { type ArchivedEvent, foundEventOf } from '../archive/event-row-reads.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { type Envelope, type EventRecord, recordOf } from '../model/events/event.ts';
import { Composed } from '../model/values/composed.ts';
import { type Events, envelopeOf, type FoundEvent } from '../store/events/events.ts';
import { archiveBorder } from './merged-page.ts';

export class EventHistory
  extends Composed<{ events: Events; archive: Archive }>
  implements Pick<Events, 'read' | 'readMany' | 'present' | 'record' | 'records' | 'envelopes' | 'isIngested'>
{
  async read(env: string, id: string): Promise<FoundEvent | undefined> {
    return (await this.readMany(env, [id]))[0];
  }

  /** The result is in the order of the IDs; events that are not stored are omitted.
   *  @throws ServiceError archive_unavailable */
  async readMany(env: string, ids: readonly string[]): Promise<FoundEvent[]> {
    const hot = await this.#withAllDuplicates(env, await this.deps.events.readMany(env, ids));
    const found = new Map(hot.map((event) => [event.internal_id, event]));
    const archived = await this.#archived(
      env,
      ids.filter((id) => !found.has(id)),
    );
    for (const event of await this.found(env, [...archived.values()])) found.set(event.internal_id, event);
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  /** IDs of the events that are stored.
   *  @throws ServiceError archive_unavailable */
  async present(env: string, ids: readonly string[]): Promise<Set<string>> {
    const present = await this.deps.events.present(env, ids);
    const others = ids.filter((id) => !present.has(id));
    if (others.length === 0) return present;
    const archived = await this.deps.archive.events.present(env, others, Date.now());
    return new Set([...present, ...archived]);
  }

  /** Archived events, with the repeats received since. */
  async found(env: string, archived: readonly ArchivedEvent[]): Promise<FoundEvent[]> {
    const counts = await this.deps.events.duplicates(
      env,
      archived.map(({ internalId }) => internalId),
    );
    return archived.map((event, i) => foundEventOf({ ...event, duplicates: event.duplicates + (counts[i] as number) }));
  }

  async record(env: string, id: string): Promise<EventRecord | undefined> {
    return (await this.records(env, [id]))[0];
  }

  /** @throws ServiceError archive_unavailable */
  async records(env: string, ids: readonly string[]): Promise<(EventRecord | undefined)[]> {
    const hot = await this.deps.events.records(env, ids);
    const archived = await this.#archived(
      env,
      ids.filter((_, i) => !hot[i]),
    );
    return ids.map((id, i) => {
      const event = archived.get(id);
      return hot[i] ?? (event && recordOf(event));
    });
  }

  /** @throws ServiceError archive_unavailable */
  async envelopes(env: string, ids: readonly string[]): Promise<Map<string, Envelope>> {
    const hot = await this.deps.events.envelopes(env, ids);
    const archived = await this.#archived(
      env,
      ids.filter((id) => !hot.has(id)),
    );
    return new Map(
      ids.flatMap((id) => {
        const event = archived.get(id);
        const envelope = hot.get(id) ?? (event && envelopeOf(env, id, event));
        return envelope ? [[id, envelope]] : [];
      }),
    );
  }

  /** Archived events are always ingested.
   *  @throws ServiceError archive_unavailable */
  async isIngested(env: string, name: string, id: string): Promise<boolean> {
    if (await this.deps.events.isIngested(env, name, id)) return true;
    return !(await this.isCertainlyHot(env, id)) && (await this.#archived(env, [id])).has(id);
  }

  /** Whether the event is too recent to be archived. */
  async isCertainlyHot(env: string, id: string): Promise<boolean> {
    const record = await this.deps.events.record(env, id);
    return record !== undefined && record.received_at >= archiveBorder(this.deps.archive, Date.now());
  }

  /** Whether all data of the event is still in Redis. */
  async isInRedis(env: string, id: string): Promise<boolean> {
    const record = await this.deps.events.record(env, id);
    return record !== undefined && (await this.deps.events.isIngested(env, record.name, id));
  }

  async #archived(env: string, ids: readonly string[]): Promise<Map<string, ArchivedEvent>> {
    return ids.length === 0 ? new Map() : this.deps.archive.events.readMany(env, ids, Date.now());
  }

  /** Copies of archived events lack the repeats received before archiving. */
  async #withAllDuplicates(env: string, hot: readonly FoundEvent[]): Promise<FoundEvent[]> {
    const border = archiveBorder(this.deps.archive, Date.now());
    const old = hot.filter(({ received_at }) => received_at < border);
    const inIndex = await Promise.all(
      old.map(({ name, internal_id }) => this.deps.events.isIngested(env, name, internal_id)),
    );
    const copies = old.filter((_, i) => !inIndex[i]);
    if (copies.length === 0) return [...hot];
    const archived = await this.#archived(
      env,
      copies.map(({ internal_id }) => internal_id),
    ).catch((error) => {
      if (isArchiveUnavailable(error)) return new Map<string, ArchivedEvent>();
      throw error;
    });
    return hot.map((event) => {
      const { duplicates = 0 } = archived.get(event.internal_id) ?? {};
      return duplicates === 0 ? event : { ...event, duplicates: event.duplicates + duplicates };
    });
  }
}
