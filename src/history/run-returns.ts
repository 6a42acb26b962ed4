/** Brings offloaded runs back from Postgres to Redis, and reads them there. */
import type { Archive } from '../archive/archive.ts';
import type { FoundContents } from '../archive/offloaded-run-rows.ts';
import { writeEvent } from '../model/events/event-encoding.ts';
import { timeOf } from '../model/ids.ts';
import { Composed } from '../model/values/composed.ts';
import { isStoreFailure } from '../store/redis/connection/connection.ts';
import { eventsOf, type OffloadedRunSource, queuedAtOf } from '../store/runs/offloaded-run.ts';
import type { Returned } from '../store/runs/offloaded-runs.ts';
import type { Store } from '../store/store.ts';

/** Time until the run must be in Redis, so that its events stay. */
const FIRST_CHECK_MS = 60_000;
/** An event that becomes due for archiving within this time could leave Redis before its run is there. */
const SOON_MS = 600_000;

export interface BroughtBack {
  id: string;
  outcome: Returned | 'missing' | 'failed';
  /** Set for the outcome `failed`. */
  error?: Error;
}

export class RunReturns
  extends Composed<{
    store: Pick<Store, 'offloadedRuns' | 'eventsInUse' | 'runs'>;
    archive: Pick<Archive, 'offloadedRuns' | 'hotMs'>;
    /** Includes archived events. */
    events: Pick<Store['events'], 'envelopes'>;
  }>
  implements OffloadedRunSource
{
  records(env: string, ids: readonly string[]): ReturnType<OffloadedRunSource['records']> {
    return this.deps.archive.offloadedRuns.records(env, ids);
  }

  contents(env: string, ids: readonly string[]): ReturnType<OffloadedRunSource['contents']> {
    return this.deps.archive.offloadedRuns.contents(env, ids);
  }

  newest(...query: Parameters<OffloadedRunSource['newest']>): ReturnType<OffloadedRunSource['newest']> {
    return this.deps.archive.offloadedRuns.newest(...query);
  }

  /** A process may die between any two steps. The run comes last: its events are in Redis before it, and its row stays until
   *  jobs/archive/offload-rows.ts finds that the run is no longer offloaded.
   *  @param anyVersion runs whose rows are in force, whatever their alarms say
   *  @returns the runs that were offloaded; `missing`: Postgres has no row of it */
  async bringBack(
    env: string,
    ids: readonly string[],
    latestMs: number,
    anyVersion: ReadonlySet<string> = new Set(),
  ): Promise<BroughtBack[]> {
    const { store, archive } = this.deps;
    const found = await archive.offloadedRuns.contents(env, ids);
    await this.#restoreEvents(env, [...found.values()]);
    const outcomes = await Promise.all(
      ids.map(async (id): Promise<BroughtBack> => {
        const row = found.get(id);
        if (!row) return { id, outcome: 'missing' };
        try {
          await store.runs.listUnder({ env, runId: id, queuedAt: queuedAtOf(row), eventIds: eventsOf(row) });
          return { id, outcome: await store.offloadedRuns.return(env, id, row, latestMs, anyVersion.has(id)) };
        } catch (error) {
          // A failing run does not keep the others from returning.
          if (isStoreFailure(error)) throw error;
          return { id, outcome: 'failed', error: error as Error };
        }
      }),
    );
    const left = outcomes.filter(({ outcome }) => outcome === 'returned' || outcome === 'deleted');
    const versions = left.map(({ id }) => ({ id, readAt: (found.get(id) as FoundContents).readAt }));
    await archive.offloadedRuns.markReturned(env, versions, Date.now());
    return outcomes;
  }

  /** Like jobs/archive/event-restorer.ts for new runs, but with the texts of the rows. */
  async #restoreEvents(env: string, rows: readonly FoundContents[]): Promise<void> {
    const { eventsInUse } = this.deps.store;
    const nowMs = Date.now();
    const ids = [...new Set(rows.flatMap(eventsOf))];
    const dueAt = nowMs + FIRST_CHECK_MS;
    const locations = await eventsInUse.keep(env, ids, dueAt);
    const leaving = ids.filter((id, i) => {
      return (
        locations[i] === 'gone' || (locations[i] === 'bucket' && timeOf(id) < nowMs - this.deps.archive.hotMs + SOON_MS)
      );
    });
    const texts = Object.assign({}, ...rows.map(({ events }) => events)) as Record<string, string>;
    const others = leaving.filter((id) => texts[id] === undefined);
    if (others.length > 0) {
      for (const [id, event] of await this.deps.events.envelopes(env, others))
        texts[id] = writeEvent(event, event.source);
    }
    for (const id of leaving) {
      const text = texts[id];
      if (text !== undefined) await eventsInUse.add(env, id, text, dueAt);
    }
  }
}
