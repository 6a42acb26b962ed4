/** The timer of batches: creates the runs of full or due batches. A batch is removed only after its run exists and is listed under its
 *  events, so a worker may die at any point. */
import type { AppFunction } from '../../model/apps/app.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import { batchRunIdOf } from '../../model/runs/run.ts';
import type { Events } from '../../store/events/events.ts';
import type { Batches, BatchLimits, ClosedBatch } from '../../store/flow-control/batches.ts';
import type { RunLists } from '../../store/runs/run-lists.ts';
import type { EventRestorer } from '../archive/event-restorer.ts';
import type { BatchStage } from '../flow-control/batches.ts';
import type { Candidate } from '../flow-control/candidate.ts';
import type { Looks } from '../flow-control/looks.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import type { BatchTimer } from '../queues/queues.ts';
import type { HeldRuns } from './held-runs.ts';

/** Limits for a function that no longer has batches: remaining ones are due, and are not split. */
const NO_LIMITS: BatchLimits = { maxSize: 1_000_000, timeoutMs: 0 };

export interface BatchTimersDeps {
  batches: Batches;
  /** Includes archived events. */
  events: Pick<Events, 'envelopes'>;
  /** Runs read their events from Redis. */
  restorer: EventRestorer;
  runLists: Pick<RunLists, 'briefsByEvent'>;
  functions: FunctionTables;
  looks: Looks;
  heldRuns: HeldRuns;
  stage: BatchStage;
}

export class BatchTimers {
  readonly #deps: BatchTimersDeps;

  constructor(deps: BatchTimersDeps) {
    this.#deps = deps;
  }

  async handle({ env, functionId, partition }: BatchTimer): Promise<void> {
    const { batches, functions, looks, heldRuns } = this.#deps;
    if (!(await heldRuns.exists(env))) return;
    const fn = (await functions.of(env)).find(functionId);
    const limits = limitsOf(fn);
    const taken = await batches.take(partition, env, functionId, limits);
    let wanted = taken.looks;
    if (taken.batches.length > 0) {
      if (fn) await this.#start(env, fn, taken.batches);
      const ids = taken.batches.map(({ id }) => id);
      wanted = (await batches.complete(partition, env, functionId, limits.timeoutMs, ids)).looks;
    }
    await looks.set('batch', env, functionId, wanted);
  }

  async #start(env: string, fn: AppFunction, closed: readonly ClosedBatch[]): Promise<void> {
    const doubled = await this.#doubled(env, fn, closed);
    const batches = closed
      .map((batch) => ({ ...batch, eventIds: batch.eventIds.filter((id) => !doubled.has(id)) }))
      .filter(({ eventIds }) => eventIds.length > 0);
    const firsts = await this.#deps.events.envelopes(
      env,
      batches.map(({ eventIds }) => eventIds[0] as string),
    );
    const candidates: Candidate[] = [];
    for (const { id, dueAt, eventIds } of batches) {
      const event = firsts.get(eventIds[0] as string) ?? (await this.#firstStored(env, eventIds));
      if (!event) continue;
      const runId = batchRunIdOf(id, fn.id);
      // The run is in the partition of its batch's first event, even if that event is gone.
      const named = { ...event, internalId: id };
      candidates.push({ id: runId, fn, event: named, dueAt, cause: 'event', batch: eventIds, repeated: true });
    }
    await this.#deps.restorer.ensure(
      env,
      candidates.flatMap(({ batch = [] }) => batch),
    );
    await this.#deps.heldRuns.start(candidates, this.#deps.stage);
  }

  /** Events already in another batch: an ingest job added them again, unaware of an earlier try. */
  async #doubled(env: string, fn: AppFunction, closed: readonly ClosedBatch[]): Promise<Set<string>> {
    const doubtful = closed.flatMap(({ id, doubtful }) => doubtful.map((eventId) => ({ eventId, id })));
    const runs = await this.#deps.runLists.briefsByEvent(
      env,
      doubtful.map(({ eventId }) => eventId),
    );
    const doubled = doubtful.filter(({ id }, i) => {
      return runs[i]?.some((run) => run.functionId === fn.id && run.id !== batchRunIdOf(id, fn.id));
    });
    return new Set(doubled.map(({ eventId }) => eventId));
  }

  async #firstStored(env: string, eventIds: readonly string[]) {
    for (const id of eventIds) {
      const event = (await this.#deps.events.envelopes(env, [id])).get(id);
      if (event) return event;
    }
    return undefined;
  }
}

function limitsOf(fn: AppFunction | undefined): BatchLimits {
  return (fn && !fn.archived && flowOptionsOf(fn)?.batch) || NO_LIMITS;
}
