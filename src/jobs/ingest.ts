/** The ingest job: the events of a few requests, stored once each and handed to every function they trigger.
 *  Running it twice changes nothing: events are stored, and runs enqueued, under IDs derived from the event. */
import { type Envelope, recordOf } from '../model/event.ts';
import { type FormerEnvelope, upToDate } from '../model/event-text.ts';
import { runIdOf } from '../model/run.ts';
import type { Events } from '../store/events.ts';
import type { Arrivals } from './arrivals.ts';
import type { FunctionTables } from './function-tables.ts';
import type { Reports } from './reports.ts';
import type { RunStarter, RunToStart } from './run-starter.ts';

export interface IngestDeps {
  events: Events;
  functions: FunctionTables;
  starter: Pick<RunStarter, 'start'>;
  arrivals: Arrivals;
  reports: Reports;
}

export async function ingest(batch: readonly (Envelope | FormerEnvelope)[], deps: IngestDeps): Promise<void> {
  const stored = await deps.events.storeNew(batch.map(upToDate));
  const open = stored.filter(({ settled }) => !settled).map(({ event }) => event);
  await deps.starter.start(await triggeredBy(open, deps.functions), Date.now());
  await deps.events.settle(stored, Date.now());
  deps.reports.ingested(stored, Date.now());
  // Also of events that an earlier try has settled: it may have died before it came to this.
  await deps.arrivals.meetWaits(stored.filter(({ repeat }) => !repeat).map(({ event }) => event));
}

async function triggeredBy(events: readonly Envelope[], functions: FunctionTables): Promise<RunToStart[]> {
  const runs: RunToStart[] = [];
  for (const [env, ofEnv] of Map.groupBy(events, (event) => event.env)) {
    const table = await functions.of(env);
    for (const event of ofEnv) {
      for (const fn of table.match(event.name, () => ({ ...recordOf(event), source: event.source }))) {
        runs.push({ id: runIdOf(event.internalId, fn.id), fn, event, dueAt: event.ts });
      }
    }
  }
  return runs;
}
