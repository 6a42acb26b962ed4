/** Lanes without a service, on a real Redis whose clock of dev mode is moved: processes that die after any write, and jobs that are repeated. */

import { NOTHING_ARCHIVED } from '../../src/jobs/archive/event-restorer.ts';
import { FlowControl } from '../../src/jobs/flow-control/flow-control.ts';
import { FlowKeys } from '../../src/jobs/flow-control/flow-keys.ts';
import { LaneEnds } from '../../src/jobs/flow-control/lane-ends.ts';
import { LaneOrders } from '../../src/jobs/flow-control/lane-orders.ts';
import { LaneStage } from '../../src/jobs/flow-control/lane-stage.ts';
import type { FlowStage, RunProposal } from '../../src/jobs/flow-control/run-proposal.ts';
import type { RunToStart } from '../../src/jobs/flow-control/run-to-start.ts';
import { TimerChecks } from '../../src/jobs/flow-control/timer-checks.ts';
import { ExpressionEvaluator } from '../../src/jobs/functions/expression-evaluator.ts';
import type { FunctionTables } from '../../src/jobs/functions/function-tables.ts';
import type { PartitionQueues } from '../../src/jobs/queues/partition-queues.ts';
import type { EventGroupTimer } from '../../src/jobs/queues/queues.ts';
import type { GroupRunStarter } from '../../src/jobs/timers/group-runs.ts';
import { LaneTimers } from '../../src/jobs/timers/lanes.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import type { AppFunction } from '../../src/model/apps/app.ts';
import type { Envelope } from '../../src/model/events/event.ts';
import { TriggerTable } from '../../src/model/events/triggers.ts';
import type { Decision } from '../../src/model/flow-control/decision.ts';
import { runIdOf } from '../../src/model/runs/run.ts';
import type { Store } from '../../src/store/store.ts';
import { functionWith } from '../support/flow-stages.ts';

/** When a process dies: before or after its runs are created, or between the end of a run and that of its turn. */
export type Death = 'before the runs' | 'after the runs';

class ProcessDied extends Error {}

export interface StartedRun {
  id: string;
  eventId: string;
  functionId: string;
  active: boolean;
}

export type LaneBed = ReturnType<typeof createLaneBed>;

export function createLaneBed(store: Store, given: Record<string, unknown>, id: string) {
  const env = 'production';
  let fn: AppFunction = functionWith({ order: given }, id);
  let death: Death | undefined;
  let offsetMs = 0;
  let timers: { timer: EventGroupTimer; at: number }[] = [];
  const started: StartedRun[] = [];
  /** Runs whose ends are not followed yet. */
  const unfollowed = new Set<string>();
  const decisions = new Map<string, Decision>();

  const now = () => Date.now() + offsetMs;
  const queues = {
    partition: () => ({
      timers: {
        add: async (_: string, timer: EventGroupTimer, { delay = 0 }) => void timers.push({ timer, at: now() + delay }),
      },
    }),
  } as unknown as PartitionQueues;
  const table = () => new TriggerTable([fn]);
  const functions = { of: async () => table(), recent: async () => table() } as unknown as FunctionTables;
  const log = { warn() {} } as never;
  const flowKeys = new FlowKeys({
    evaluator: new ExpressionEvaluator({ problems: store.expressionProblems, log, recorder: NOOP_RECORDER }),
  });
  const timerChecks = new TimerChecks({
    queues,
    stores: {
      batch: store.batches,
      debounce: store.debounces,
      lane: store.lanes,
    },
  });
  const decisionLog = {
    find: async ({ event }: RunProposal) => decisions.get(event.internalId),
    add: async (made: readonly Decision[]) => {
      for (const decision of made) decisions.set(decision.eventId, decision);
    },
  };
  const laneOrders = new LaneOrders({ functions, webhooks: store.webhooks });
  const deps = { ids: store.ids, laneOrders, lanes: store.lanes, flowKeys, timerChecks };
  const laneStage = new LaneStage(deps);
  const laneEnds = new LaneEnds({ ...deps, decisions: decisionLog });
  const flowControl = new FlowControl({
    stages: [laneStage],
    flowKeys,
    runStatuses: store.runStatuses,
    decisions: decisionLog,
  });

  async function create(runs: readonly RunToStart[]): Promise<void> {
    if (death === 'before the runs') throw new ProcessDied();
    const queuedAt = Date.now();
    await store.runs.create(
      runs.map(({ id, event, keys, retryOf }) => ({
        ...{ id, env, functionId: fn.id, eventId: event.internalId, requestId: event.requestId },
        ...(keys && { keys }),
        ...(retryOf && { retryOf }),
        queuedAt,
        reconcileAt: queuedAt,
      })),
    );
    for (const { id, event } of runs) {
      if (started.some((run) => run.id === id)) continue;
      started.push({ id, eventId: event.internalId, functionId: fn.id, active: true });
    }
    if (death === 'after the runs') throw new ProcessDied();
  }

  /** @returns whether the process has died */
  async function dying(work: () => Promise<unknown>, dies?: Death): Promise<boolean> {
    death = dies;
    try {
      await work();
      return false;
    } catch (error) {
      if (!(error instanceof ProcessDied)) throw error;
      return true;
    } finally {
      death = undefined;
    }
  }

  const groupRunStarter = {
    exists: async () => true,
    start: async (proposals: readonly RunProposal[], stage: FlowStage) => {
      if (proposals.length > 0) await create(await flowControl.resume(proposals, stage));
    },
  } as unknown as GroupRunStarter;
  const laneTimers = new LaneTimers({
    ...{ ids: store.ids, functions, laneOrders, timerChecks, groupRunStarter, laneStage, laneEnds },
    lanes: store.lanes,
    decisions: decisionLog,
    eventRestorer: NOTHING_ARCHIVED,
    runStatuses: store.runStatuses,
    history: { events: store.events, runs: store.runs },
  });

  return {
    env,
    id,
    decisions,
    /** In the order of their creation. */
    started,
    laneEnds,
    unfollowed,
    /** As a deploy does. */
    setOrder(order: Record<string, unknown> | undefined): void {
      fn = functionWith(order ? { order } : {}, id);
    },
    /** The ingest job; again, it changes nothing. @returns whether its process has died */
    ingest: (events: readonly Envelope[], dies?: Death) =>
      dying(async () => {
        const stored = await store.events.storeNew(events);
        const proposals = stored.map(({ event, present = false }): RunProposal => {
          const runId = runIdOf(store.ids, event.internalId, id);
          return { id: runId, fn, event, dueAt: event.ts, cause: 'event', ...(present && { repeated: true }) };
        });
        await create(await flowControl.decide(proposals));
      }, dies),
    /** The timers that are due. One that dies is repeated. */
    async look(dies?: Death): Promise<void> {
      const due = timers.filter(({ at }) => at <= now());
      timers = timers.filter(({ at }) => at > now());
      for (const one of due) {
        if (await dying(() => laneTimers.handle(one.timer), dies)) timers.push(one);
      }
    },
    /** @param dies before its lane goes on */
    async end(run: StartedRun, status: 'Completed' | 'Failed' | 'Cancelled', dies = false): Promise<void> {
      const stored = await store.runs.read(env, run.id);
      if (!stored) throw new Error(`the run ${run.id} is not stored`);
      const ending = {
        Completed: { status, output: 'null' },
        Failed: { status, error: { name: 'Error', message: 'no' } },
        Cancelled: { status, reason: { cause: 'request' } },
      }[status];
      await store.runs.end(stored, ending as never, Date.now());
      run.active = false;
      unfollowed.add(run.id);
      if (!dies) await this.follow(run.id);
    },
    /** What follows the end of a run. */
    async follow(runId: string): Promise<void> {
      const run = await store.runs.read(env, runId);
      if (run) await laneEnds.follow(run);
      unfollowed.delete(runId);
    },
    /** Jobs of timers that are lost, as by a Redis that forgot its last writes. */
    loseTimers(): void {
      timers = [];
    },
    async advance(ms: number): Promise<void> {
      offsetMs += ms;
      await store.redis.incrby(store.keys.devClock, ms);
    },
  };
}
