/** Stages and timers on the real Redis, with a worker that dies where the test says so, and time that a test need not wait for. */
import { randomUUID } from 'node:crypto';
import { NOTHING_ARCHIVED } from '../../src/jobs/archive/event-restorer.ts';
import { BATCH_RULES, DEBOUNCE_RULES, EventGroupStage } from '../../src/jobs/flow-control/event-group-stage.ts';
import type { FlowKeys } from '../../src/jobs/flow-control/flow-keys.ts';
import type { RunProposal } from '../../src/jobs/flow-control/run-proposal.ts';
import { TimerChecks } from '../../src/jobs/flow-control/timer-checks.ts';
import type { FunctionTables } from '../../src/jobs/functions/function-tables.ts';
import type { PartitionQueues } from '../../src/jobs/queues/partition-queues.ts';
import type { EventGroupTimer } from '../../src/jobs/queues/queues.ts';
import { BatchRuns } from '../../src/jobs/timers/batch-runs.ts';
import { debounceRuns } from '../../src/jobs/timers/debounce-runs.ts';
import { EventGroupTimers } from '../../src/jobs/timers/event-groups.ts';
import type { GroupRunStarter } from '../../src/jobs/timers/group-runs.ts';
import type { AppFunction } from '../../src/model/apps/app.ts';
import type { Envelope } from '../../src/model/events/event.ts';
import type { Decision } from '../../src/model/flow-control/decision.ts';
import { runIdOf } from '../../src/model/runs/run.ts';
import { Batches } from '../../src/store/flow-control/batches.ts';
import { Debounces } from '../../src/store/flow-control/debounces.ts';
import { Lanes } from '../../src/store/flow-control/lanes.ts';
import type { ScriptedRedis } from '../../src/store/redis/connection/scripts.ts';
import type { Store } from '../../src/store/store.ts';

/** Where a worker dies while it looks at what is due. */
export type Death = 'before the runs' | 'after the runs';

class WorkerDied extends Error {}

export type HoldBed = ReturnType<typeof createHoldBed>;

/** @param config of the function; a key is the field `key` of the event's data */
export function createHoldBed(store: Store, config: Record<string, unknown>) {
  const redis = store.redis as ScriptedRedis;
  const batches = new Batches(redis, store.keys, 0);
  const debounces = new Debounces(redis, store.keys, 0);
  const functionId = `f-${randomUUID()}`;
  const fn = { id: functionId, app: 'a', config, cancel: [], retries: 0, archived: false } as unknown as AppFunction;
  const timers = new Map<string, EventGroupTimer>();
  /** They are not due during a test, except that a registration without the option makes all due. */
  const delayed = new Map<string, EventGroupTimer>();
  let isDue = false;
  let death: Death | undefined;
  const decisions: Decision[] = [];
  const created = new Map<string, RunProposal>();

  const queues = {
    partition: () => ({
      timers: {
        add: async (_: string, timer: EventGroupTimer, { delay = 0 }) => {
          (delay > 0 ? delayed : timers).set(JSON.stringify(timer), timer);
        },
      },
    }),
  } as unknown as PartitionQueues;
  const flowKeys = {
    textOf: (key: string | undefined, { event }: RunProposal) =>
      key === undefined ? '' : String(JSON.parse(event.payload).data.key),
  } as unknown as FlowKeys;
  // Without the option all is due.
  const functions = {
    of: async () => ({ find: () => (isDue ? { ...fn, config: {} } : fn) }),
  } as unknown as FunctionTables;
  const groupRunStarter = {
    exists: async () => true,
    start: async (proposals: readonly RunProposal[]) => {
      if (death === 'before the runs') throw new WorkerDied();
      const nowMs = Date.now();
      await store.runs.create(
        proposals.map(({ id, event, batch }) => ({
          ...{ id, env: event.env, functionId, eventId: event.internalId, requestId: event.requestId },
          ...(batch && { batch }),
          queuedAt: nowMs,
          reconcileAt: nowMs,
        })),
      );
      for (const proposal of proposals) if (!created.has(proposal.id)) created.set(proposal.id, proposal);
      if (death === 'after the runs') throw new WorkerDied();
    },
  } as unknown as GroupRunStarter;
  const timerChecks = new TimerChecks({
    queues,
    stores: {
      batch: batches,
      debounce: debounces,
      lane: new Lanes(redis, store.keys, 0),
    },
  });
  const log = { find: async () => undefined, add: async (made: readonly Decision[]) => void decisions.push(...made) };
  const deps = {
    ids: store.ids,
    clock: Date.now,
    decisions: log,
    events: store.events,
    runLists: store.runLists,
    flowKeys,
    timerChecks,
    functions,
    groupRunStarter,
    eventRestorer: NOTHING_ARCHIVED,
  };
  const batchStage = new EventGroupStage(BATCH_RULES, batches, deps);
  const debounceStage = new EventGroupStage(DEBOUNCE_RULES, debounces, deps);
  const batchTimers = new EventGroupTimers(new BatchRuns(deps), batches, batchStage, deps);
  const debounceTimers = new EventGroupTimers(debounceRuns(store.ids, store.events), debounces, debounceStage, deps);

  return {
    store,
    functionId,
    /** Runs that were created, by ID. */
    created,
    decisions,
    /** The ingest job. @param beganMsAgo the worker has stood still for so long since it stored the events */
    async ingest(kind: 'batch' | 'debounce', events: readonly Envelope[], beganMsAgo = 0): Promise<void> {
      const beganAt = Date.now() - beganMsAgo;
      const stored = await store.events.storeNew(events);
      const proposals = stored.map(({ event, present = false }): RunProposal => {
        const id = runIdOf(store.ids, event.internalId, functionId);
        return { id, fn, event, dueAt: event.ts, cause: 'event', beganAt, ...(present && { repeated: true }) };
      });
      const stage = kind === 'batch' ? batchStage : debounceStage;
      decisions.push(...(await stage.apply(proposals)).decisions);
    },
    /** The timers that are not due run, on a worker whose clock is ahead. */
    async lookEarly(): Promise<void> {
      isDue = false;
      const early = [...delayed.values()];
      delayed.clear();
      for (const timer of early) {
        await (timer.kind === 'batch' ? batchTimers.handle(timer) : debounceTimers.handle(timer));
      }
    },
    /** The timers that were set look now. @param all what waits is due; a worker that dies is followed by another, later */
    async look(all: boolean, dies?: Death): Promise<void> {
      isDue = all;
      death = dies;
      const due = new Map([...timers, ...(all ? delayed : [])]);
      timers.clear();
      for (const timer of due.values()) {
        try {
          await (timer.kind === 'batch' ? batchTimers.handle(timer) : debounceTimers.handle(timer));
        } catch (error) {
          if (!(error instanceof WorkerDied)) throw error;
          timers.set(JSON.stringify(timer), timer);
        }
      }
      death = undefined;
    },
  };
}
