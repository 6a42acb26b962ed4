/** The ingest job: the events of a few requests, stored once each and handed to every function they trigger.
 *  Running it twice changes nothing: events are stored, and runs enqueued, under IDs derived from the event. */
import { type Envelope, recordOf } from '../../model/events/event.ts';
import type { TriggerExpression, TriggerTable } from '../../model/events/triggers.ts';
import { runIdOf } from '../../model/runs/run.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { Events } from '../../store/events/events.ts';
import type { RunStarter, RunToStart } from '../runs/run-starter.ts';
import type { WaitMatcher } from '../runs/wait-matcher.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { ExpressionEvaluator } from './expression-evaluator.ts';
import type { FunctionTables } from './function-tables.ts';
import { ofLiveEnvironments } from './live-environments.ts';

export interface IngestDeps {
  environments: Pick<Environments, 'read'>;
  events: Events;
  functions: FunctionTables;
  starter: Pick<RunStarter, 'start'>;
  arrivals: WaitMatcher;
  judge: ExpressionEvaluator;
  reports: Telemetry;
}

export async function ingest(batch: readonly Envelope[], deps: IngestDeps): Promise<void> {
  const events = await ofLiveEnvironments(batch, deps.environments);
  if (events.length === 0) return;
  const [stored, tables] = await Promise.all([deps.events.storeNew(events), tablesOf(events, deps.functions)]);
  const open = stored.filter(({ ingested }) => !ingested).map(({ event }) => event);
  await deps.starter.start(await triggeredBy(open, tables, deps.judge), Date.now());
  await deps.events.markIngested(stored, Date.now());
  deps.reports.ingested(stored, Date.now());
  // Also of events that an earlier try has settled: it may have died before it came to this.
  await deps.arrivals.meetWaits(stored.filter(({ repeat }) => !repeat).map(({ event }) => event));
}

/** By environment. */
async function tablesOf(events: readonly Envelope[], functions: FunctionTables): Promise<Map<string, TriggerTable>> {
  const envs = [...new Set(events.map(({ env }) => env))];
  const tables = await Promise.all(envs.map((env) => functions.of(env)));
  return new Map(envs.map((env, i) => [env, tables[i] as TriggerTable]));
}

async function triggeredBy(
  events: readonly Envelope[],
  tables: ReadonlyMap<string, TriggerTable>,
  judge: ExpressionEvaluator,
): Promise<RunToStart[]> {
  const runs: RunToStart[] = [];
  judge.begin();
  for (const event of events) {
    const { env, internalId, name, ts } = event;
    const read = () => ({ ...recordOf(event), source: event.source });
    const isMet = ({ fn, source, expression }: TriggerExpression, read: unknown) =>
      judge.isMet({ env, functionId: fn.id, source, expression }, { event: read });
    for (const fn of tables.get(env)?.match(name, read, isMet) ?? []) {
      if (fn) runs.push({ id: runIdOf(internalId, fn.id), fn, event, dueAt: ts });
      if (judge.mustRest) await judge.rest();
    }
  }
  await judge.tell();
  return runs;
}
