/** The ingest job: the events of a few requests, stored once each and handed to every function they trigger.
 *  Running it twice changes nothing: events are stored, and runs enqueued, under IDs derived from the event. */
import type { Envelope } from '../model/event.ts';
import { runIdOf } from '../model/run.ts';
import type { Events } from '../store/events.ts';
import type { NewRun, Runs } from '../store/runs.ts';
import type { FunctionTables } from './function-tables.ts';
import type { EnqueueRuns, RunToEnqueue } from './runs.ts';

export interface IngestDeps {
  events: Events;
  runs: Runs;
  functions: FunctionTables;
  enqueueRuns: EnqueueRuns;
}

export async function ingest(batch: readonly Envelope[], deps: IngestDeps): Promise<void> {
  const stored = await deps.events.storeNew(batch);
  const open = stored.filter(({ settled }) => !settled).map(({ event }) => event);
  const runs = await triggeredBy(open, deps.functions);
  await deps.runs.create(runs);
  await deps.enqueueRuns(runs);
  await deps.events.settle(stored, Date.now());
}

async function triggeredBy(events: readonly Envelope[], functions: FunctionTables): Promise<(NewRun & RunToEnqueue)[]> {
  const runs: (NewRun & RunToEnqueue)[] = [];
  for (const [env, ofEnv] of Map.groupBy(events, (event) => event.env)) {
    const table = await functions.of(env);
    for (const event of ofEnv) {
      for (const fn of table.match(event.name, () => JSON.parse(event.record))) {
        runs.push({
          id: runIdOf(event.internalId, fn.id),
          env,
          functionId: fn.id,
          eventId: event.internalId,
          requestId: event.requestId,
          queuedAt: Date.now(),
          retries: fn.retries,
        });
      }
    }
  }
  return runs;
}
