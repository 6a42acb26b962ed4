/** Stage of batches: an event of a function with `batchEvents` waits for others, and they share one run. A timer creates it
 *  (jobs/timers/batches.ts), even if the batch is full, so that a worker that dies here leaves nothing half done. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { Batch, FlowOptions } from '../../model/flow-control/options.ts';
import { batchRunIdOf } from '../../model/runs/run.ts';
import { SLACK_MS } from '../../store/events/event-location.ts';
import type { Events } from '../../store/events/events.ts';
import type { Batches } from '../../store/flow-control/batches.ts';
import type { RunLists } from '../../store/runs/run-lists.ts';
import type { Candidate, FlowStage, StageResult } from './candidate.ts';
import { type FlowKeys, sourceOf } from './flow-keys.ts';
import { formerRuns } from './former-runs.ts';
import type { Looks } from './looks.ts';

export interface BatchStageDeps {
  batches: Batches;
  events: Pick<Events, 'extendRetention'>;
  runLists: Pick<RunLists, 'briefsByEvent'>;
  flowKeys: FlowKeys;
  looks: Looks;
}

export class BatchStage implements FlowStage {
  readonly #deps: BatchStageDeps;

  constructor(deps: BatchStageDeps) {
    this.#deps = deps;
  }

  appliesTo({ batch }: FlowOptions, { cause }: Candidate): boolean {
    return batch !== undefined && cause === 'event';
  }

  async apply(candidates: readonly Candidate[]): Promise<StageResult> {
    const admitted: Candidate[] = [];
    const decisions: Decision[] = [];
    const together: Candidate[] = [];
    const nowMs = Date.now();
    for (const candidate of candidates) (this.#runsAlone(candidate, nowMs) ? admitted : together).push(candidate);
    for (const [env, ofEnv] of Map.groupBy(together, ({ event }) => event.env)) {
      const former = await formerRuns(env, ofEnv, this.#deps.runLists);
      for (const candidate of ofEnv) {
        const runId = former.get(candidate);
        // The event ran by itself before its function had batches: the rest of that run's creation is repeated.
        if (runId === candidate.id) admitted.push(candidate);
        else if (runId !== undefined) decisions.push(decisionOf(candidate, runId));
      }
      const rest = ofEnv.filter((candidate) => !former.has(candidate));
      for (const ofFunction of Map.groupBy(rest, ({ fn }) => fn.id).values()) {
        decisions.push(...(await this.#add(env, ofFunction)));
      }
    }
    return { admitted, decisions };
  }

  /** Whether the event does not meet the condition, or is for a time beyond the batch. */
  #runsAlone(candidate: Candidate, nowMs: number): boolean {
    const batch = batchOf(candidate.fn);
    if (candidate.dueAt > nowMs + batch.timeoutMs) return true;
    return batch.if !== undefined && this.#deps.flowKeys.valueOf(batch.if, sourceOf(candidate)) !== true;
  }

  /** @param candidates candidates of one function */
  async #add(env: string, candidates: readonly Candidate[]): Promise<Decision[]> {
    const [first] = candidates;
    if (!first) return [];
    const { batches, events, flowKeys, looks } = this.#deps;
    const limits = batchOf(first.fn);
    if (limits.timeoutMs > SLACK_MS) {
      await Promise.all(candidates.map(({ event }) => events.extendRetention(env, event.internalId, limits.timeoutMs)));
    }
    const entries = candidates.map((candidate) => ({
      key: flowKeys.textOf(limits.key, candidate),
      eventId: candidate.event.internalId,
      bytes: Buffer.byteLength(candidate.event.payload),
      dueAt: candidate.dueAt,
      repeated: candidate.repeated ?? false,
    }));
    const beganAt = first.beganAt ?? Date.now();
    const added = await batches.add(env, first.fn.id, limits, entries, beganAt);
    await looks.set('batch', env, first.fn.id, added.looks);
    return candidates.map((candidate, i) => {
      return decisionOf(candidate, batchRunIdOf(added.batchIds[i] as string, candidate.fn.id));
    });
  }
}

function batchOf(fn: AppFunction): Batch {
  return flowOptionsOf(fn)?.batch as Batch;
}

function decisionOf({ event: { env, internalId }, fn }: Candidate, runId: string): Decision {
  return { env, eventId: internalId, functionId: fn.id, reason: 'batched', runId };
}
