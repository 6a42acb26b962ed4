/** Finds events of an ingest job that an earlier try ingested so long ago that they are archived and gone from Redis. Only old events, or
 *  events with old IDs, can be among them. */
import type { ArchivedIds } from '../../archive/archived-ids.ts';
import { isArchiveUnavailable } from '../../errors.ts';
import { archiveBorder } from '../../history/merged-page.ts';
import type { Envelope } from '../../model/events/event.ts';
import { timeOf } from '../../model/ids.ts';

export interface AlreadyArchivedDeps {
  ids: ArchivedIds;
  hotMs: number;
}

/** Whether the event may be archived.
 *  @param archive undefined: there is none */
export function isOld(
  { internalId }: Pick<Envelope, 'internalId'>,
  archive: Pick<AlreadyArchivedDeps, 'hotMs'> | undefined,
  nowMs: number,
): boolean {
  return archive !== undefined && timeOf(internalId) < archiveBorder(archive, nowMs);
}

/** @throws ServiceError archive_unavailable: the job is retried */
export async function findAlreadyArchived(
  events: readonly Envelope[],
  { ids, hotMs }: AlreadyArchivedDeps,
  nowMs: number,
): Promise<Set<string>> {
  const border = archiveBorder({ hotMs }, nowMs);
  const old = events.filter((event) => isOld(event, { hotMs }, nowMs));
  const found = new Set<string>();
  for (const [env, ofEnv] of Map.groupBy(old, (event) => event.env)) {
    try {
      for (const id of await ids.present(
        env,
        ofEnv.map(({ internalId }) => internalId),
      ))
        found.add(id);
    } catch (error) {
      // Just received: an earlier try hours ago is all but impossible, and new events do not wait for Postgres.
      if (!isArchiveUnavailable(error) || ofEnv.some(({ receivedAt }) => receivedAt < border)) throw error;
    }
  }
  return found;
}
