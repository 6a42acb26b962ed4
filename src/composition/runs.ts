/** Parts that start, continue and end runs, shared by web and worker. */

import type { Acceptor } from '../jobs/acceptance/acceptor.ts';
import { ArchivedEventRestorer, type EventRestorer, NOTHING_ARCHIVED } from '../jobs/archive/event-restorer.ts';
import { Admission } from '../jobs/flow-control/admission.ts';
import { CountedDecisions } from '../jobs/flow-control/decision-log.ts';
import { BATCH_RULES, DEBOUNCE_RULES, EventGroupStage } from '../jobs/flow-control/event-group-stage.ts';
import { type DecisionLog, FlowControl } from '../jobs/flow-control/flow-control.ts';
import { FlowKeys } from '../jobs/flow-control/flow-keys.ts';
import { FunctionLanes } from '../jobs/flow-control/function-lanes.ts';
import { Idempotency } from '../jobs/flow-control/idempotency.ts';
import { LaneEnds } from '../jobs/flow-control/lane-ends.ts';
import { LaneOrders } from '../jobs/flow-control/lane-orders.ts';
import { LaneStage } from '../jobs/flow-control/lane-stage.ts';
import { LimitStatuses } from '../jobs/flow-control/limit-status.ts';
import { RateLimits } from '../jobs/flow-control/rate-limits.ts';
import type { FlowStage } from '../jobs/flow-control/run-proposal.ts';
import { Singletons } from '../jobs/flow-control/singletons.ts';
import { TimerChecks } from '../jobs/flow-control/timer-checks.ts';
import { WorkerCapacity } from '../jobs/flow-control/worker-capacity.ts';
import { AdmittedCalls } from '../jobs/runs/admission/admitted-calls.ts';
import { CallCheckpoints } from '../jobs/runs/calls/checkpoints.ts';
import { Endpoints } from '../jobs/runs/calls/endpoints.ts';
import { CancelTriggers } from '../jobs/runs/cancel-triggers.ts';
import { RunRetries } from '../jobs/runs/changes/run-retries.ts';
import { RunMoves } from '../jobs/runs/changes/version-moves.ts';
import { DeferredFunctions } from '../jobs/runs/ends/deferred-functions.ts';
import { FailureCounter } from '../jobs/runs/ends/failure-counter.ts';
import { LifecycleEvents } from '../jobs/runs/ends/lifecycle-events.ts';
import { TimeoutTimers } from '../jobs/runs/ends/timeout-timers.ts';
import { RunStarter } from '../jobs/runs/run-starter.ts';
import { RunStates } from '../jobs/runs/run-states.ts';
import { DelayedJobs } from '../jobs/runs/scheduling/delayed-jobs.ts';
import { QueuedRunJobs } from '../jobs/runs/scheduling/queued-run-jobs.ts';
import { RunScheduler } from '../jobs/runs/scheduling/run-scheduler.ts';
import { RunTransitions } from '../jobs/runs/state-transitions.ts';
import { InvocationListeners } from '../jobs/runs/steps/invocation-listeners.ts';
import { Invocations } from '../jobs/runs/steps/invocations.ts';
import { SignalSender } from '../jobs/runs/steps/signal-sender.ts';
import { WaitMatcher } from '../jobs/runs/steps/wait-matcher.ts';
import { BatchRuns } from '../jobs/timers/batch-runs.ts';
import { CronTicks } from '../jobs/timers/cron.ts';
import { debounceRuns } from '../jobs/timers/debounce-runs.ts';
import { EventGroupTimers } from '../jobs/timers/event-groups.ts';
import { GroupRunStarter } from '../jobs/timers/group-runs.ts';
import { LaneTimers } from '../jobs/timers/lanes.ts';
import { Schedules } from '../jobs/timers/schedules.ts';
import { handleChangedTimeouts, handleTimeout } from '../jobs/timers/timeout-handlers.ts';
import type { TimerHandlers } from '../jobs/timers/timer-handlers.ts';
import type { JobTaker } from '../store/redis/job-lists.ts';
import type { Loaded } from '../store/runs/loaded-run.ts';
import type { Definitions } from './container.ts';
import type { IngestionNeeds, IngestionParts } from './ingestion.ts';

interface FlowControlParts {
  flowKeys: FlowKeys;
  /** Calls that all workers together can have in flight. */
  capacity: () => number;
  admission: Admission;
  decisions: DecisionLog;
  /** Registrations use it, because they may change what batches and debounces wait for. */
  timerChecks: TimerChecks;
  batchStage: FlowStage;
  debounceStage: FlowStage;
  singletons: Singletons;
  laneOrders: LaneOrders;
  laneStage: FlowStage;
  laneEnds: LaneEnds;
  flowControl: FlowControl;
  limitStatuses: LimitStatuses;
  functionLanes: FunctionLanes;
}

interface RunParts {
  queuedRunJobs: QueuedRunJobs;
  scheduler: RunScheduler;
  timeoutTimers: TimeoutTimers;
  deferredFunctions: DeferredFunctions;
  lifecycleEvents: LifecycleEvents;
  failures: FailureCounter;
  transitions: RunTransitions;
  afterwards: Acceptor['afterwards'];
  /** Resolves once a replica has the writes of `work`. */
  replicated: Acceptor['writeReplicated'];
  waitMatcher: WaitMatcher;
  cancelTriggers: CancelTriggers;
  /** Filled by the workers of the process, by partition. */
  jobTakers: Map<number, JobTaker<Loaded>>;
  starter: RunStarter;
  invocationListeners: InvocationListeners;
  eventRestorer: EventRestorer;
  invocations: Invocations;
  retries: RunRetries;
  runMoves: RunMoves;
  callCheckpoints: CallCheckpoints;
  endpoints: Endpoints;
  signalSender: SignalSender;
  delayedJobs: DelayedJobs;
  runStates: RunStates;
  schedules: Schedules;
  reconcileAfterMs: number;
  callTimeoutMs: number;
  retryScale: number;
}

/** The parts that only the worker needs. */
interface TimerParts {
  groupRunStarter: GroupRunStarter;
  cronTicks: CronTicks;
  batchTimers: Pick<EventGroupTimers<'batch', never>, 'handle'>;
  debounceTimers: Pick<EventGroupTimers<'debounce', never>, 'handle'>;
  laneTimers: LaneTimers;
  timerHandlers: TimerHandlers;
  admittedCalls: AdmittedCalls;
}

export interface RunServices extends FlowControlParts, RunParts, TimerParts {}

type Needs = IngestionParts & IngestionNeeds;

const FLOW_CONTROL: Definitions<FlowControlParts, Needs & RunParts> = {
  flowKeys: (parts) => new FlowKeys(parts),
  capacity({ processes, config }) {
    const capacity = new WorkerCapacity(processes, config.runConcurrency);
    return () => capacity.calls;
  },
  admission: (parts) => new Admission(parts),
  decisions: ({ storedDecisions, recorder }) => new CountedDecisions({ decisions: storedDecisions, recorder }),
  timerChecks: ({ queues, batches, debounces, lanes }) =>
    new TimerChecks({ queues, stores: { batch: batches, debounce: debounces, lane: lanes } }),
  batchStage: (parts) => new EventGroupStage(BATCH_RULES, parts.batches, parts),
  debounceStage: (parts) => new EventGroupStage(DEBOUNCE_RULES, parts.debounces, parts),
  singletons: (parts) =>
    new Singletons({
      holders: parts.singletonHolders,
      runStatuses: parts.runStatuses,
      flowKeys: parts.flowKeys,
      cancel: (env, runId, holder) => parts.transitions.cancel(env, runId, { cause: 'singleton', id: holder }),
    }),
  laneOrders: (parts) => new LaneOrders(parts),
  laneStage: (parts) => new LaneStage(parts),
  laneEnds: (parts) => new LaneEnds(parts),
  flowControl(parts) {
    const { flowKeys, runStatuses, decisions, batchStage, debounceStage, singletons, laneStage } = parts;
    const rateLimits = new RateLimits(parts);
    const idempotency = new Idempotency(parts);
    const stages = [batchStage, rateLimits, idempotency, debounceStage, singletons, laneStage];
    return new FlowControl({ stages, flowKeys, runStatuses, decisions });
  },
  limitStatuses: (parts) => new LimitStatuses(parts),
  functionLanes: (parts) => new FunctionLanes(parts),
};

const RUN: Definitions<RunParts, Needs & FlowControlParts> = {
  queuedRunJobs: (parts) => new QueuedRunJobs(parts),
  scheduler: (parts) => new RunScheduler(parts),
  timeoutTimers: (parts) => new TimeoutTimers(parts),
  deferredFunctions: (parts) => new DeferredFunctions(parts),
  lifecycleEvents: (parts) => new LifecycleEvents(parts),
  failures: (parts) => new FailureCounter(parts),
  transitions: (parts) => new RunTransitions(parts),
  afterwards: ({ acceptor }) => acceptor.afterwards.bind(acceptor),
  replicated: ({ acceptor }) => acceptor.writeReplicated.bind(acceptor),
  waitMatcher: (parts) => new WaitMatcher(parts),
  cancelTriggers: (parts) => new CancelTriggers(parts),
  jobTakers: () => new Map(),
  starter: (parts) => new RunStarter(parts),
  invocationListeners: (parts) => new InvocationListeners(parts),
  eventRestorer: ({ config: { archive }, eventsInUse, history: { events } }) =>
    archive ? new ArchivedEventRestorer({ eventsInUse, events, hotMs: archive.hotMs }) : NOTHING_ARCHIVED,
  invocations: (parts) => new Invocations(parts),
  retries: (parts) => new RunRetries(parts),
  runMoves: (parts) => new RunMoves(parts),
  callCheckpoints: (parts) => new CallCheckpoints(parts),
  endpoints: (parts) => new Endpoints(parts),
  signalSender: (parts) => new SignalSender(parts),
  delayedJobs: (parts) => new DelayedJobs(parts),
  runStates: (parts) => new RunStates(parts),
  schedules: (parts) => new Schedules(parts),
  reconcileAfterMs: ({ config }) => config.reconcileAfterMs,
  callTimeoutMs: ({ config }) => config.callTimeoutMs,
  retryScale: ({ config }) => config.retryScale,
};

const TIMERS: Definitions<TimerParts, Needs & FlowControlParts & RunParts> = {
  groupRunStarter: (parts) => new GroupRunStarter(parts),
  batchTimers(parts) {
    const { ids, history, batches, batchStage } = parts;
    return new EventGroupTimers(new BatchRuns({ ids, ...history }), batches, batchStage, parts);
  },
  debounceTimers(parts) {
    const { ids, history, debounces, debounceStage } = parts;
    return new EventGroupTimers(debounceRuns(ids, history.events), debounces, debounceStage, parts);
  },
  laneTimers: (parts) => new LaneTimers(parts),
  cronTicks: (parts) => new CronTicks(parts),
  timerHandlers: (parts) => ({
    batch: (timer) => parts.batchTimers.handle(timer),
    debounce: (timer) => parts.debounceTimers.handle(timer),
    lane: (timer) => parts.laneTimers.handle(timer),
    throttle: async ({ limit, home }) => parts.scheduler.start(await parts.admission.advance(home, limit)),
    timeout: (timer, dueAt) => handleTimeout(timer, dueAt, parts),
    'changed-timeouts': (timer) => handleChangedTimeouts(timer, parts),
    cron: (timer, dueAt, executions) => parts.cronTicks.handle(timer, dueAt, executions),
  }),
  admittedCalls({ admission, functions, heldFunctions, runs, scheduler, queuedRunJobs, clock, config }) {
    const trustMs = config.stalledAfterMs;
    return new AdmittedCalls({ admission, functions, heldFunctions, runs, scheduler, queuedRunJobs, clock, trustMs });
  },
};

export const RUN_SERVICES: Definitions<RunServices, Needs> = { ...FLOW_CONTROL, ...RUN, ...TIMERS };
