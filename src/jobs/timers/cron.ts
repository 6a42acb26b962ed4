/** The tick of a function: an event of the service, and one run on it. Both IDs are derived from environment, function and the time of
 *  the tick, so a timer handled twice changes nothing, and several schedules of a function that tick at the same time start one run.
 *  Ticks that are due at the same time are stored together: at a full minute there are many. */

import type { AppFunction, Trigger } from '../../model/apps/app.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { type Envelope, SCHEDULED_TIMER, toEnvelope } from '../../model/events/event.ts';
import type { TriggerTable } from '../../model/events/triggers.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { runIdOf } from '../../model/runs/run.ts';
import { ticksToRun } from '../../model/schedules/missed-ticks.ts';
import { jitterMs, scheduledTrigger, tickingTrigger } from '../../model/schedules/schedules.ts';
import type { Clock } from '../../model/values/clock.ts';
import { Composed } from '../../model/values/composed.ts';
import { iso } from '../../model/values/time.ts';
import type { Store } from '../../store/store.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import type { RunProposal } from '../flow-control/run-proposal.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import type { CronTimer } from '../queues/queues.ts';
import type { RunStarter } from '../runs/run-starter.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** Number of timers whose runs are created together. */
const TOGETHER_MAX = 250;
/** Number of runs created together. */
const STARTED_TOGETHER = 1_000;

interface Due {
  timer: CronTimer;
  dueAt: number;
  /** Whether an earlier execution of its job did not finish. */
  isRepeated: boolean;
}

interface Waiting extends Due {
  resolve: () => void;
  reject: (error: unknown) => void;
}

export interface CronTicksDeps extends Pick<Store, 'ids' | 'keys' | 'events' | 'environments' | 'missedTicks'> {
  /** Resolves once a replica has the writes of `work`. */
  replicated<T>(work: () => Promise<T>): Promise<T>;
  functions: FunctionTables;
  flowControl: Pick<FlowControl, 'decide'>;
  starter: Pick<RunStarter, 'start'>;
  telemetry: Telemetry;
  clock: Clock;
}

export class CronTicks extends Composed<CronTicksDeps> {
  readonly #waiting: Waiting[] = [];
  #isWorking = false;

  /** Resolves when the runs of its ticks are created. */
  handle(timer: CronTimer, dueAt: number, executions: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ timer, dueAt, isRepeated: executions > 1, resolve, reject });
      if (this.#isWorking) return;
      this.#isWorking = true;
      // Runs after the other timers of this turn of the event loop.
      setImmediate(() => void this.#work());
    });
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, TOGETHER_MAX);
      try {
        await this.#runAll(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        if (batch.length === 1) batch[0]?.reject(error);
        else await Promise.all(batch.map((timer) => this.#runAll([timer]).then(timer.resolve, timer.reject)));
      }
    }
    this.#isWorking = false;
  }

  async #runAll(due: readonly Due[]): Promise<void> {
    const now = this.deps.clock();
    const tables = await this.#tables(new Set(due.map(({ timer }) => timer.env)));
    const proposals = new Map<string, RunProposal>();
    for (const tick of due) {
      for (const proposal of await this.#proposalsOf(tick, tables, now)) proposals.set(proposal.id, proposal);
      if (proposals.size < STARTED_TOGETHER) continue;
      await this.#start([...proposals.values()], now);
      proposals.clear();
    }
    await this.#start([...proposals.values()], now);
  }

  async #start(proposals: readonly RunProposal[], now: number): Promise<void> {
    if (proposals.length === 0) return;
    const { events, flowControl, starter, telemetry, replicated } = this.deps;
    const stored = await replicated(async () => {
      const ticks = await events.storeNew(proposals.map(({ event }) => event));
      const byId = new Map(ticks.map((tick) => [tick.event.internalId, tick]));
      // The event of a tick may exist already, after an earlier try, or because another schedule of the function ticks at the same time.
      const toStart = proposals.flatMap((proposal) => {
        const { ingested, present } = byId.get(proposal.event.internalId) ?? {};
        return ingested ? [] : [{ ...proposal, ...(present && { repeated: true as const }) }];
      });
      await starter.start(await flowControl.decide(toStart), now);
      return ticks;
    });
    // Only once the runs are on a replica: the index says that a tick has its run, and a failover could lose the run while keeping the
    // index.
    await events.markIngested(stored, now);
    telemetry.recordIngested(stored, Date.now());
  }

  /** Proposals of functions that still have the schedule. */
  async #proposalsOf(
    { timer: { env, functionId, cron }, dueAt, isRepeated }: Due,
    tables: ReadonlyMap<string, TriggerTable>,
    nowMs: number,
  ): Promise<RunProposal[]> {
    const fn = tables.get(env)?.find(functionId);
    const trigger = fn && scheduledTrigger(fn, cron);
    if (!trigger) return [];
    const { ids, keys } = this.deps;
    const partition = keys.homeOf(`${env}/${functionId}`).number;
    const { run, skipped } = ticksToRun({ cron, dueAt, nowMs, isRepeated, catchUp: trigger.catchUp });
    if (skipped) await this.deps.missedTicks.add(env, functionId, { cron, ...skipped });
    return run.map((tick) => proposalOf(ids, env, fn, tickingTrigger(fn, tick) ?? { cron }, tick, partition, nowMs));
  }

  /** Trigger tables of the environments that exist and are not archived. */
  async #tables(envs: ReadonlySet<string>): Promise<Map<string, TriggerTable>> {
    const { environments, functions } = this.deps;
    const tables = new Map<string, TriggerTable>();
    await Promise.all(
      [...envs].map(async (env) => {
        const environment = env === PRODUCTION ? undefined : await environments.read(env);
        const isLive = env === PRODUCTION || (environment && environment.archivedAt === undefined);
        if (isLive) tables.set(env, await functions.of(env));
      }),
    );
    return tables;
  }
}

/** ID of the event of a tick.
 *  @param partition permanent partition of the function */
export function tickEventId(
  ids: PartitionedIds,
  env: string,
  functionId: string,
  tick: number,
  partition: number,
): string {
  return ids.ownEvent(tick, partition, 'schedule', env, functionId, String(tick));
}

function proposalOf(
  ids: PartitionedIds,
  env: string,
  fn: AppFunction,
  trigger: Trigger,
  tick: number,
  partition: number,
  nowMs: number,
): RunProposal {
  const internalId = tickEventId(ids, env, fn.id, tick, partition);
  const id = runIdOf(ids, internalId, fn.id);
  const dueAt = tick + jitterMs(id, trigger);
  const data = { cron: trigger.cron, scheduledAt: iso(tick), fireAt: iso(dueAt) };
  const event: Envelope = toEnvelope(
    { name: SCHEDULED_TIMER, data, ts: tick },
    { internalId, env, receivedAt: nowMs, source: 'service', requestId: internalId, index: 0 },
  );
  return { id, fn, event, dueAt, cause: 'schedule' };
}
