/** The stages of flow control without a service: several processes on one real Redis. */

import { ulid } from 'ulid';
import { CountedDecisions } from '../../src/jobs/flow-control/decision-log.ts';
import { FlowControl } from '../../src/jobs/flow-control/flow-control.ts';
import { FlowKeys } from '../../src/jobs/flow-control/flow-keys.ts';
import { Idempotency } from '../../src/jobs/flow-control/idempotency.ts';
import { RateLimits } from '../../src/jobs/flow-control/rate-limits.ts';
import type { FlowStage, RunProposal } from '../../src/jobs/flow-control/run-proposal.ts';
import type { RunToStart } from '../../src/jobs/flow-control/run-to-start.ts';
import { Singletons } from '../../src/jobs/flow-control/singletons.ts';
import { ExpressionEvaluator } from '../../src/jobs/functions/expression-evaluator.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import type { AppFunction } from '../../src/model/apps/app.ts';
import type { Decision } from '../../src/model/flow-control/decision.ts';
import { PartitionedIds } from '../../src/model/partitions/partitioned-ids.ts';
import { runIdOf } from '../../src/model/runs/run.ts';
import { envelope, type OwnStore, openStore } from './own-store.ts';
import { freshPrefix } from './redis.ts';

/** A process that decides about runs, creates them, and ends them. */
export class FlowProcess {
  readonly store: OwnStore;
  readonly decisions: Decision[] = [];
  /** IDs of proposals that wait after idempotency, as in a debounce. */
  readonly held = new Set<string>();
  readonly #holding: FlowStage = {
    appliesTo: (_, { id }) => this.held.has(id),
    apply: async () => ({ admitted: [], decisions: [] }),
  };
  readonly #flowControl: FlowControl;
  readonly #singletons: Singletons;

  constructor(store: OwnStore) {
    this.store = store;
    const log = { warn() {} } as never;
    const flowKeys = new FlowKeys({
      evaluator: new ExpressionEvaluator({ problems: store.expressionProblems, log, recorder: NOOP_RECORDER }),
    });
    const { rateLimitLogs, idempotencyClaims, singletonHolders: holders, runStatuses } = store;
    const stored = new CountedDecisions({ decisions: store.decisions, recorder: NOOP_RECORDER });
    this.#singletons = new Singletons({
      holders,
      runStatuses,
      flowKeys,
      cancel: (env, id) => this.#end(env, id, 'Cancelled'),
    });
    this.#flowControl = new FlowControl({
      stages: [
        new RateLimits({ rateLimitLogs, flowKeys }),
        new Idempotency({ idempotencyClaims, flowKeys }),
        this.#holding,
        this.#singletons,
      ],
      flowKeys,
      runStatuses,
      decisions: {
        find: (proposal) => stored.find(proposal),
        add: async (decisions) => {
          this.decisions.push(...decisions);
          await stored.add(decisions);
        },
      },
    });
  }

  decide(proposals: readonly RunProposal[]): Promise<RunToStart[]> {
    return this.#flowControl.decide(proposals);
  }

  /** As RunStarter does. */
  async create(runs: readonly RunToStart[]): Promise<void> {
    const queuedAt = Date.now();
    await this.store.runs.create(
      runs.map(({ id, fn, event, keys }) => ({
        id,
        env: event.env,
        functionId: fn.id,
        eventId: event.internalId,
        requestId: event.requestId,
        ...(keys && { keys }),
        queuedAt,
        reconcileAt: queuedAt,
      })),
    );
    await this.#singletons.confirm(runs);
  }

  /** What an ingest job does. */
  async start(proposals: readonly RunProposal[]): Promise<RunToStart[]> {
    const runs = await this.decide(proposals);
    await this.create(runs);
    return runs;
  }

  /** What a timer does with held proposals. */
  async resume(proposals: readonly RunProposal[]): Promise<RunToStart[]> {
    const repeated = proposals.map((proposal) => ({ ...proposal, repeated: true }));
    const runs = await this.#flowControl.resume(repeated, this.#holding);
    await this.create(runs);
    return runs;
  }

  async complete(runId: string): Promise<void> {
    await this.#end('production', runId, 'Completed');
  }

  /** As RunTransitions does. */
  async #end(env: string, id: string, status: 'Completed' | 'Cancelled'): Promise<void> {
    const run = await this.store.runs.read(env, id);
    if (!run) return;
    await this.store.runs.end(
      run,
      status === 'Completed' ? { status, output: 'null' } : { status, reason: { cause: 'singleton' } },
      Date.now(),
    );
    const digest = run.keys?.singleton;
    if (digest !== undefined) await this.store.singletonHolders.release({ env, digest, runId: id });
  }
}

/** @param partitions of the installation */
export async function openProcesses(count: number, partitions = 1): Promise<FlowProcess[]> {
  const prefix = freshPrefix();
  const processes: FlowProcess[] = [];
  for (let n = 0; n < count; n++) {
    processes.push(new FlowProcess(await openStore(prefix, { PARTITIONS: String(partitions) })));
  }
  return processes;
}

export async function closeProcesses(processes: readonly FlowProcess[]): Promise<void> {
  for (const { store } of processes) await store.close();
}

export function functionWith(config: Record<string, unknown>, id = 'app-f'): AppFunction {
  return {
    id,
    name: id,
    app: 'app',
    url: 'http://127.0.0.1:1/',
    dialect: 'service',
    retries: 0,
    triggers: [{ event: 'test/x' }],
    cancel: [],
    archived: false,
    config,
  };
}

export function proposalOf(fn: AppFunction, data: Record<string, unknown>, internalId = ulid()): RunProposal {
  const event = envelope({ data }, { internalId });
  return { id: runIdOf(new PartitionedIds(), internalId, fn.id), fn, event, dueAt: event.ts, cause: 'event' };
}
