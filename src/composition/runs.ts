/** The parts that start, continue and end runs, the same in web and worker. */
import type { History } from '../history/history.ts';
import { ArchivedEventRestorer, type EventRestorer, NOTHING_ARCHIVED } from '../jobs/archive/event-restorer.ts';
import { Admission } from '../jobs/flow-control/admission.ts';
import { BatchStage } from '../jobs/flow-control/batches.ts';
import { DebounceStage } from '../jobs/flow-control/debounces.ts';
import { CountedDecisions } from '../jobs/flow-control/decision-log.ts';
import { type DecisionLog, FlowControl } from '../jobs/flow-control/flow-control.ts';
import { FlowKeys } from '../jobs/flow-control/flow-keys.ts';
import { Idempotency } from '../jobs/flow-control/idempotency.ts';
import { LimitStatuses } from '../jobs/flow-control/limit-status.ts';
import { Looks } from '../jobs/flow-control/looks.ts';
import { RateLimits } from '../jobs/flow-control/rate-limits.ts';
import { Singletons } from '../jobs/flow-control/singletons.ts';
import { WorkerCapacity } from '../jobs/flow-control/worker-capacity.ts';
import { AdmittedCalls } from '../jobs/runs/admitted-calls.ts';
import { CancelTriggers } from '../jobs/runs/cancel-triggers.ts';
import { CallCheckpoints } from '../jobs/runs/checkpoints.ts';
import { DeferredFunctions } from '../jobs/runs/deferred-functions.ts';
import { DelayedJobs } from '../jobs/runs/delayed-jobs.ts';
import { Endpoints } from '../jobs/runs/endpoints.ts';
import { FailureCounter } from '../jobs/runs/failure-counter.ts';
import { InvocationListeners } from '../jobs/runs/invocation-listeners.ts';
import { Invocations } from '../jobs/runs/invocations.ts';
import { LifecycleEvents } from '../jobs/runs/lifecycle-events.ts';
import { RunRetries } from '../jobs/runs/run-retries.ts';
import { RunScheduler } from '../jobs/runs/run-scheduler.ts';
import { RunStarter } from '../jobs/runs/run-starter.ts';
import { RunStates } from '../jobs/runs/run-states.ts';
import { SignalSender } from '../jobs/runs/signal-sender.ts';
import { RunTransitions } from '../jobs/runs/state-transitions.ts';
import { TimeoutTimers } from '../jobs/runs/timeout-timers.ts';
import { WaitMatcher } from '../jobs/runs/wait-matcher.ts';
import { BatchTimers } from '../jobs/timers/batches.ts';
import { CronTicks } from '../jobs/timers/cron.ts';
import { DebounceTimers } from '../jobs/timers/debounces.ts';
import { HeldRuns } from '../jobs/timers/held-runs.ts';
import { Schedules } from '../jobs/timers/schedules.ts';
import { handleChangedTimeouts, handleTimeout } from '../jobs/timers/timeouts.ts';
import type { TimerHandlers } from '../jobs/timers/timer-handlers.ts';
import type { Store } from '../store/store.ts';
import type { Core } from './core.ts';
import type { Ingestion } from './ingestion.ts';

export interface RunServices {
  scheduler: RunScheduler;
  transitions: RunTransitions;
  waitMatcher: WaitMatcher;
  starter: RunStarter;
  invocations: Invocations;
  retries: RunRetries;
  callCheckpoints: CallCheckpoints;
  endpoints: Endpoints;
  signalSender: SignalSender;
  flowControl: FlowControl;
  /** For registrations, which may change what waits. */
  looks: Looks;
  decisions: DecisionLog;
  admission: Admission;
  limitStatuses: LimitStatuses;
  runStates: RunStates;
  admittedCalls: AdmittedCalls;
  timeoutTimers: TimeoutTimers;
  schedules: Schedules;
  restorer: EventRestorer;
  /** For the worker. */
  timerHandlers: TimerHandlers;
}

export function createRunServices(
  {
    config: { archive, reconcileAfterMs, stalledAfterMs, callTimeoutMs, retryScale, runConcurrency },
    recorder,
    tracing,
  }: Core,
  {
    apps,
    redis,
    keys,
    environments,
    missedTicks,
    functions: storedFunctions,
    runs,
    runLists,
    runMetadata,
    runStatuses,
    unfinishedEnds,
    steps,
    checkpoints,
    events,
    eventsInUse,
    waits,
    signals,
    requests,
    defers,
    environmentKinds,
    deduplication,
    batches,
    debounces,
    rateLimitLogs,
    idempotencyClaims,
    singletonHolders,
    admissions,
    limitUsage,
    heldFunctions,
    processes,
    decisions: storedDecisions,
    replayedRuns,
    errorGroups,
  }: Store,
  history: History,
  { queues, functions, evaluator, telemetry, acceptor }: Ingestion,
): RunServices {
  const flowKeys = new FlowKeys(evaluator);
  const capacity = new WorkerCapacity(processes, runConcurrency);
  const admission = new Admission({
    admissions,
    runs,
    events,
    functions,
    environmentKinds,
    flowKeys,
    queues,
    capacity: () => capacity.calls,
    recorder,
  });
  const scheduler = new RunScheduler(queues, environmentKinds, admission);
  const timeoutTimers = new TimeoutTimers({ queues, functions, events });
  const deferredFunctions = new DeferredFunctions(defers, acceptor);
  const lifecycleEvents = new LifecycleEvents({ events, waits, functions, acceptor, evaluator });
  const transitions = new RunTransitions({
    runs,
    steps,
    requests,
    singletonHolders,
    functions,
    scheduler,
    timeoutTimers,
    unfinishedEnds,
    deferredFunctions,
    lifecycleEvents,
    replayedRuns,
    failures: new FailureCounter(runs, errorGroups),
    telemetry,
  });
  const timeoutDeps = { runs, runLists, timeoutTimers, transitions };
  const afterwards = acceptor.afterwards.bind(acceptor);
  const waitMatcher = new WaitMatcher({
    events,
    pastEvents: history.pastEvents,
    waits,
    transitions,
    afterwards,
    evaluator,
  });
  const cancelTriggers = new CancelTriggers(waits, events, waitMatcher);
  const singletons = new Singletons({
    holders: singletonHolders,
    runStatuses,
    flowKeys,
    cancel: (env, runId, holder) => transitions.cancel(env, runId, { cause: 'singleton', id: holder }),
  });
  const starter = new RunStarter({
    events,
    runs,
    formerSteps: history.runs,
    singletons,
    cancelTriggers,
    scheduler,
    timeoutTimers,
    telemetry,
    reconcileAfterMs,
    tracing,
  });
  const listeners = new InvocationListeners({ functions, evaluator, waits, waitMatcher });
  const decisions = new CountedDecisions(storedDecisions, recorder);
  const looks = new Looks(queues, { batch: batches, debounce: debounces });
  const batchStage = new BatchStage({ batches, events, runLists, flowKeys, looks });
  const debounceStage = new DebounceStage({ debounces, events, runLists, flowKeys, looks });
  const rateLimits = new RateLimits(rateLimitLogs, flowKeys);
  const idempotency = new Idempotency(idempotencyClaims, flowKeys);
  const stages = [batchStage, rateLimits, idempotency, debounceStage, singletons];
  const flowControl = new FlowControl({ stages, flowKeys, runStatuses, decisions });
  const heldRuns = new HeldRuns({
    environments,
    flowControl,
    starter,
    replicated: (work) => acceptor.writeReplicated(work),
  });
  const restorer = archive
    ? new ArchivedEventRestorer({ eventsInUse, events: history.events, hotMs: archive.hotMs })
    : NOTHING_ARCHIVED;
  const held = { events: history.events, restorer, functions, looks, heldRuns };
  const batchTimers = new BatchTimers({ ...held, batches, runLists: history.runLists, stage: batchStage });
  const debounceTimers = new DebounceTimers({ ...held, debounces, decisions, stage: debounceStage });
  const invocations = new Invocations({
    events,
    functions,
    flowControl,
    starter,
    listeners,
    transitions,
    telemetry,
    deduplication: {
      // A run whose claim is lost would be started again.
      claim: (claims) => acceptor.writeReplicated(() => deduplication.claim(claims)),
      confirm: (claims) => afterwards(() => deduplication.confirm(claims)),
    },
  });
  const cronTicks = new CronTicks({
    keys,
    environments,
    functions,
    missedTicks,
    events,
    flowControl,
    starter,
    telemetry,
  });
  const operations = {
    transitions,
    runs,
    runMetadata,
    steps,
    checkpoints,
    waits,
    signals,
    requests,
    defers,
    waitMatcher,
  };
  const endpointDeps = { ...operations, invocations, scheduler, events, functions, telemetry };
  return {
    scheduler,
    transitions,
    waitMatcher,
    starter,
    invocations,
    retries: new RunRetries({ history, restorer, apps, events, functions, starter, scheduler }),
    endpoints: new Endpoints({ ...endpointDeps, callTimeoutMs, retryScale }),
    callCheckpoints: new CallCheckpoints({
      runs,
      runMetadata,
      checkpoints,
      defers,
      scheduler,
      transitions,
      telemetry,
      reconcileAfterMs,
    }),
    signalSender: new SignalSender({ signals, transitions, afterwards }),
    flowControl,
    looks,
    decisions,
    admission,
    runStates: new RunStates({
      redis,
      keys,
      usage: limitUsage,
      functions,
      environmentKinds,
      delayedJobs: new DelayedJobs(redis, queues),
      capacity: () => capacity.calls,
    }),
    limitStatuses: new LimitStatuses({
      usage: limitUsage,
      functions,
      environmentKinds,
      capacity: () => capacity.calls,
    }),
    admittedCalls: new AdmittedCalls({
      admission,
      functions,
      heldFunctions,
      runs,
      scheduler,
      trustMs: stalledAfterMs,
    }),
    timeoutTimers,
    restorer,
    schedules: new Schedules({ redis, keys, queues, functions: storedFunctions, environments }),
    timerHandlers: {
      batch: (timer) => batchTimers.handle(timer),
      debounce: (timer) => debounceTimers.handle(timer),
      throttle: async ({ limit, home }) => scheduler.start(await admission.advance(home, limit)),
      timeout: (timer, dueAt) => handleTimeout(timer, dueAt, timeoutDeps),
      'changed-timeouts': (timer) => handleChangedTimeouts(timer, timeoutDeps),
      cron: (timer, dueAt, executions) => cronTicks.handle(timer, dueAt, executions),
    },
  };
}
