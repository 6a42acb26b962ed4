/** What moves runs, put together: the same parts in every process that moves any. */
import type { Store } from '../../store/store.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { Acceptor } from '../ingestion/acceptor.ts';
import type { ExpressionEvaluator } from '../ingestion/expression-evaluator.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';
import type { RunQueue } from '../queues/queues.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { CancelTriggers } from './cancel-triggers.ts';
import { Invocations } from './invocations.ts';
import { RunRetries } from './run-retries.ts';
import { RunScheduler } from './run-scheduler.ts';
import { RunStarter } from './run-starter.ts';
import { RunTransitions } from './state-transitions.ts';
import { WaitMatcher } from './wait-matcher.ts';

export interface RunServices {
  schedule: RunScheduler;
  life: RunTransitions;
  arrivals: WaitMatcher;
  judge: ExpressionEvaluator;
  starter: RunStarter;
  invocations: Invocations;
  retries: RunRetries;
}

/** @param lookAfterMs a run that is not heard of for so long is looked after */
export function createRunServices(
  store: Store,
  functions: FunctionTables,
  queue: RunQueue,
  acceptor: Acceptor,
  reports: Telemetry,
  judge: ExpressionEvaluator,
  lookAfterMs: number,
  tracing?: Tracing,
): RunServices {
  const schedule = new RunScheduler(queue, store.environmentKinds);
  const life = new RunTransitions({ ...store, functions, schedule, acceptor, reports });
  const arrivals = new WaitMatcher(store.events, store.waits, life, judge);
  const starter = new RunStarter(
    store.events,
    store.runs,
    new CancelTriggers(store.waits, store.events, arrivals),
    schedule,
    reports,
    lookAfterMs,
    tracing,
  );
  const invocations = new Invocations(store.events, functions, starter, life, reports);
  const retries = new RunRetries(store, functions, starter, schedule);
  return { schedule, life, arrivals, judge, starter, invocations, retries };
}
