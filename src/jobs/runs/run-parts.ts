/** What moves runs, put together: the same parts in every process that moves any. */
import type { Store } from '../../store/store.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { Acceptor } from '../ingestion/acceptor.ts';
import type { Judge } from '../ingestion/expression-evaluator.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';
import type { RunQueue } from '../queues/queues.ts';
import type { Reports } from '../telemetry/telemetry.ts';
import { Cancels } from './cancel-triggers.ts';
import { Invocations } from './invocations.ts';
import { RunRetries } from './run-retries.ts';
import { RunSchedule } from './run-scheduler.ts';
import { RunStarter } from './run-starter.ts';
import { RunLife } from './state-transitions.ts';
import { Arrivals } from './wait-matcher.ts';

export interface RunParts {
  schedule: RunSchedule;
  life: RunLife;
  arrivals: Arrivals;
  judge: Judge;
  starter: RunStarter;
  invocations: Invocations;
  retries: RunRetries;
}

/** @param lookAfterMs a run that is not heard of for so long is looked after */
export function runParts(
  store: Store,
  functions: FunctionTables,
  queue: RunQueue,
  acceptor: Acceptor,
  reports: Reports,
  judge: Judge,
  lookAfterMs: number,
  tracing?: Tracing,
): RunParts {
  const schedule = new RunSchedule(queue, store.environmentKinds);
  const life = new RunLife({ ...store, functions, schedule, acceptor, reports });
  const arrivals = new Arrivals(store.events, store.waits, life, judge);
  const starter = new RunStarter(
    store.events,
    store.runs,
    new Cancels(store.waits, store.events, arrivals),
    schedule,
    reports,
    lookAfterMs,
    tracing,
  );
  const invocations = new Invocations(store.events, functions, starter, life, reports);
  const retries = new RunRetries(store, functions, starter, schedule);
  return { schedule, life, arrivals, judge, starter, invocations, retries };
}
