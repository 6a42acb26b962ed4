/** Active runs with their steps and events, also offloaded ones, which stay in Postgres. */
import type { Archive } from '../archive/archive.ts';
import { type EventRecord, recordOf } from '../model/events/event.ts';
import { readEvent } from '../model/events/event-encoding.ts';
import { Composed } from '../model/values/composed.ts';
import type { WholeRun } from '../store/runs/whole-runs.ts';
import type { Store } from '../store/store.ts';

export interface RunWithEvents extends WholeRun {
  /** All events, in order; undefined if any is no longer stored. */
  events: EventRecord[] | undefined;
}

export class WholeRunHistory extends Composed<{
  store: Pick<Store, 'wholeRuns' | 'offloadedRuns'>;
  archive: Archive | undefined;
  events: Pick<Store['events'], 'records'>;
}> {
  /** undefined if the run is not stored, or archived.
   *  @throws ServiceError archive_unavailable */
  async read(env: string, id: string): Promise<RunWithEvents | undefined> {
    const { wholeRuns } = this.deps.store;
    const whole = await wholeRuns.read(env, id);
    if (whole) return this.#withEvents(whole, {});
    const row = (await this.deps.archive?.offloadedRuns.contents(env, [id]))?.get(id);
    // The run may have come back a moment ago.
    if (!row || !(await this.deps.store.offloadedRuns.which(env, [id])).has(id)) {
      const back = await wholeRuns.read(env, id);
      return back && this.#withEvents(back, {});
    }
    const offloaded = await wholeRuns.read(env, id, row.contents);
    return offloaded && this.#withEvents(offloaded, row.events);
  }

  /** @param texts of events that the row of an offloaded run has */
  async #withEvents(whole: WholeRun, texts: Readonly<Record<string, string>>): Promise<RunWithEvents> {
    const { env, eventId, batch = [eventId] } = whole.run;
    const missing = batch.filter((id) => texts[id] === undefined);
    const read = await this.deps.events.records(env, missing);
    const found = new Map(missing.map((id, i) => [id, read[i]]));
    const events = batch.map((id) => {
      const text = texts[id];
      return text === undefined ? found.get(id) : recordOf(readEvent(id, text));
    });
    const areAll = events.every((event) => event !== undefined);
    return { ...whole, events: areAll ? (events as EventRecord[]) : undefined };
  }
}
