/** What moves runs, put together: the same parts in every process that moves any. */
import type { Store } from '../store/store.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Acceptor } from './accept.ts';
import { Arrivals } from './arrivals.ts';
import { Cancels } from './cancels.ts';
import type { FunctionTables } from './function-tables.ts';
import { Invocations } from './invocations.ts';
import type { Judge } from './judge.ts';
import type { RunQueue } from './queues.ts';
import type { Reports } from './reports.ts';
import { RunLife } from './run-life.ts';
import { RunRetries } from './run-retries.ts';
import { RunSchedule } from './run-schedule.ts';
import { RunStarter } from './run-starter.ts';

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
