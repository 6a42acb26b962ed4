/** Starts runs: creates their records, stores their cancel triggers, sets the timers of their timeouts, and enqueues their first calls,
 *  in this order, so that no event in between is missed. Most runs have none of these, and are created with the jobs of their first calls. */
import type { History } from '../../history/history.ts';
import { isConnected } from '../../model/apps/connection.ts';
import { type Pin, versionOfRun } from '../../model/apps/versions.ts';
import type { Event } from '../../model/events/event.ts';
import { isFailureHandler } from '../../model/events/lifecycle.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { Composed } from '../../model/values/composed.ts';
import { isOverflow, SLACK_MS } from '../../store/events/event-location.ts';
import type { JobTaker } from '../../store/redis/job-lists.ts';
import type { Loaded } from '../../store/runs/loaded-run.ts';
import type { FirstCall, NewRun } from '../../store/runs/run-writing.ts';
import type { NewEvents } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { RunToStart } from '../flow-control/run-to-start.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import type { CallToSchedule } from '../queues/call-ref.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { CancelTriggers } from './cancel-triggers.ts';
import { type TimeoutTimers, timeoutsOf } from './ends/timeout-timers.ts';
import type { RunScheduler } from './scheduling/run-scheduler.ts';

export interface RunStarterDeps extends Pick<Store, 'events' | 'runs'> {
  functions: Pick<FunctionTables, 'ofRun'>;
  /** Includes archived runs. */
  history: Pick<History, 'runs'>;
  /** flow-control/singletons.ts */
  singletons: { confirm(runs: readonly RunToStart[]): Promise<void> };
  cancelTriggers: CancelTriggers;
  scheduler: RunScheduler;
  timeoutTimers: TimeoutTimers;
  telemetry: Telemetry;
  /** Workers of this process, by partition. */
  jobTakers: ReadonlyMap<number, JobTaker<Loaded>>;
  /** A run idle for this long after it is due is reconciled. */
  reconcileAfterMs: number;
  tracing: Tracing | undefined;
}

export class RunStarter extends Composed<RunStarterDeps> {
  async start(toStart: readonly RunToStart[], nowMs: number): Promise<void> {
    const { runs, singletons, cancelTriggers, timeoutTimers, scheduler } = this.deps;
    await this.#keepFutureEvents(toStart, nowMs);
    const { newRuns, jobs, callOf } = await this.#prepare(toStart, nowMs);
    const started = await runs.create(newRuns, (partition) => this.deps.jobTakers.get(partition));
    const others = toStart.filter(({ id }) => !jobs.has(id));
    if (others.length > 0) {
      await singletons.confirm(others);
      await cancelTriggers.watch(others, nowMs);
      await timeoutTimers.watchQueued(others, nowMs);
      const finishedSteps = await this.#copySteps(others, nowMs);
      await scheduler.enqueueCalls(others.map((run) => callOf(run, finishedSteps.get(run.id))));
    }
    this.#publish(toStart, started, nowMs);
  }

  /** Stores new events and starts the runs that they trigger, if one script can do both.
   *  @returns false: no run has started; the events may be stored */
  async startWithEvents(toStart: readonly RunToStart[], events: NewEvents, nowMs: number): Promise<boolean> {
    if (!toStart.every((run) => isPlain(run) && run.dueAt - nowMs <= SLACK_MS)) return false;
    const { newRuns, jobs } = await this.#prepare(toStart, nowMs);
    if (jobs.size < toStart.length) return false;
    const takerOf = (partition: number) => this.deps.jobTakers.get(partition);
    const started = await this.deps.runs.createWithEvents(newRuns, events, takerOf);
    if (started) this.#publish(toStart, started, nowMs);
    return started !== undefined;
  }

  /** @returns the runs to create, the jobs of the first calls of plain runs by run ID, and a function that makes the first call of any
   *  other run */
  async #prepare(toStart: readonly RunToStart[], nowMs: number) {
    const { scheduler, reconcileAfterMs, tracing } = this.deps;
    const activeSpan = tracing?.serializeSpan();
    const callOf = (
      { id, fn, event, fromStep, keys, dueAt, trace = activeSpan }: RunToStart,
      finishedSteps = 0,
    ): CallToSchedule => ({
      ref: {
        env: event.env,
        runId: id,
        eventId: event.internalId,
        requestId: event.requestId,
        functionId: fn.id,
        trace,
        keys,
        queuedAt: nowMs,
      },
      ...(fromStep?.input ? { stepId: fromStep.id } : { finishedSteps }),
      retries: fn.retries,
      delayMs: dueAt - nowMs,
    });
    const pins = await this.#pinsOf(toStart);
    const jobs = new Map<string, FirstCall>();
    for (const run of toStart) {
      const job = isPlain(run) ? await scheduler.waitingCall(callOf(run)) : undefined;
      if (job) jobs.set(run.id, { ...job, ...(!pins.has(run.id) && startOf(run, nowMs)) });
    }
    const newRuns = toStart.map(
      ({ fn, event, dueAt, trace = activeSpan, ...given }): NewRun => ({
        ...given,
        env: event.env,
        functionId: fn.id,
        eventId: event.internalId,
        requestId: event.requestId,
        ...pinnedTo(pins.get(given.id)),
        ...(trace && { trace }),
        queuedAt: nowMs,
        ...(dueAt > nowMs && { dueAt }),
        reconcileAt: Math.max(dueAt, nowMs) + reconcileAfterMs,
        job: jobs.get(given.id),
      }),
    );
    return { newRuns, jobs, callOf };
  }

  #publish(toStart: readonly RunToStart[], started: ReadonlyMap<string, Loaded>, nowMs: number): void {
    for (const { id, fn, event, replayId } of toStart) {
      const run = { env: event.env, id, functionId: fn.id, eventId: event.internalId, queuedAt: nowMs };
      const startedAt = started.get(id)?.run.startedAt;
      this.deps.telemetry.publishNewRun(
        { ...run, ...(startedAt && { startedAt }), ...(replayId && { replayId }) },
        event,
      );
    }
  }

  /** The versions on which the runs end, by run ID. */
  async #pinsOf(toStart: readonly RunToStart[]): Promise<Map<string, Pin>> {
    const pins = new Map<string, Pin>();
    for (const run of toStart) {
      const { id, fn } = run;
      const version = versionOfRun(fn, id);
      const own = version === undefined ? undefined : { app: fn.app, version };
      const pin = run.pin ?? (own && isFailureHandler(fn) ? await this.#pinOfFailed(run) : undefined) ?? own;
      if (pin) pins.set(id, pin);
    }
    return pins;
  }

  /** The version of the failed run that a failure handler handles. undefined if the run has no version, the event
   *  names no run, or that version has no such handler any more. */
  async #pinOfFailed({ fn: { id: functionId, app }, event: { env, payload } }: RunToStart): Promise<Pin | undefined> {
    const { runs, functions } = this.deps;
    const failed = payload === undefined ? undefined : (JSON.parse(payload) as Event).data?.run_id;
    if (typeof failed !== 'string' || !ID_PATTERN.test(failed)) return undefined;
    const pin = await runs.pinOf(env, failed);
    return pin?.app === app && (await functions.ofRun({ env, functionId, pin })) ? pin : undefined;
  }

  /** @returns by run ID, the number of finished steps that a re-run begins with */
  async #copySteps(toStart: readonly RunToStart[], nowMs: number): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { id, event, retryOf, fromStep } of toStart) {
      if (!retryOf || !fromStep) continue;
      const count = await this.deps.history.runs.copySteps({ env: event.env, id, retryOf, fromStep }, nowMs);
      // The reconciler then fails the run, which would otherwise run all steps again.
      if (count === undefined) throw new Error(`the run ${retryOf}, whose steps the run ${id} needs, is gone`);
      counts.set(id, count);
    }
    return counts;
  }

  /** Keeps events with a future timestamp beyond their retention if runs start then. */
  async #keepFutureEvents(toStart: readonly RunToStart[], nowMs: number): Promise<void> {
    const { events } = this.deps;
    const aheadMs = new Map<string, { env: string; id: string; ms: number }>();
    for (const { event, dueAt, batch = [event.internalId] } of toStart) {
      if (dueAt - nowMs <= SLACK_MS) continue;
      for (const id of batch) aheadMs.set(`${event.env}/${id}`, { env: event.env, id, ms: dueAt - nowMs });
    }
    await Promise.all([...aheadMs.values()].map(({ env, id, ms }) => events.extendRetention(env, id, ms)));
  }
}

/** Whether nothing is to be done between the creation of the run and its first call. */
function isPlain({ fn, keys, batch, fromStep }: RunToStart): boolean {
  return fn.cancel.length === 0 && timeoutsOf(fn)?.startMs === undefined && !keys?.singleton && !batch && !fromStep;
}

/** The data with which a plain run's first call starts as the run is created; undefined: the call starts later,
 *  because it needs more than capacity. */
function startOf({ fn, event }: RunToStart, nowMs: number): Pick<FirstCall, 'owner' | 'event'> | undefined {
  const { env, internalId, requestId, receivedAt, payload, index } = event;
  if (payload === undefined || index === undefined || isConnected(fn.url)) return undefined;
  // The script that loads the call may have to keep the event for longer.
  if (nowMs - receivedAt >= SLACK_MS || isOverflow(event)) return undefined;
  // Jobs of branches have a priority, so they are not taken.
  return {
    owner: { env, branch: false, app: fn.app },
    event: { internalId, requestId, receivedAt, payload, index },
  };
}

function pinnedTo(pin: Pin | undefined): { pin?: Pin } {
  return pin ? { pin } : {};
}
