/** Trying again: a run that has ended, as a new run of the same function on the same event; and a try that is waited for, at once. */
import { ServiceError } from '../../errors.ts';
import { derivedId } from '../../model/ids.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import type { Events } from '../../store/events/events.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { Steps } from '../../store/runs/steps.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';
import type { RunScheduler } from './run-scheduler.ts';
import type { RunStarter } from './run-starter.ts';

/** How far a run is. */
type Progress = Awaited<ReturnType<Steps['progress']>>;

export class RunRetries {
  readonly #runs: Runs;
  readonly #steps: Steps;
  readonly #events: Events;
  readonly #functions: FunctionTables;
  readonly #starter: RunStarter;
  readonly #schedule: RunScheduler;

  constructor(
    { runs, steps, events }: { runs: Runs; steps: Steps; events: Events },
    functions: FunctionTables,
    starter: RunStarter,
    schedule: RunScheduler,
  ) {
    this.#runs = runs;
    this.#steps = steps;
    this.#events = events;
    this.#functions = functions;
    this.#starter = starter;
    this.#schedule = schedule;
  }

  /** While a retry of the run is under way, asking again gives that one: its ID is derived from how many there were.
   *  @returns the new run; undefined when there is no such run
   *  @throws ServiceError run_active, function_archived, event_gone */
  async retry(env: string, runId: string, nowMs: number): Promise<Run | undefined> {
    const run = await this.#runs.read(env, runId);
    if (!run) return undefined;
    if (!hasEnded(run)) throw new ServiceError('run_active', { detail: `it is ${run.status}; cancel it first` });
    const { id, earlier } = await this.#nextRetry(run);
    if (earlier) return earlier;
    await this.#start(run, id, nowMs);
    return this.#runs.read(env, id);
  }

  /** When a call of the run's function is next made that waits for its time, Unix milliseconds: after a failure, or for the first time,
   *  if its event is of the future. Undefined: none waits. */
  async nextTryAt(run: Run, progress: Progress): Promise<number | undefined> {
    const due = [...(await this.#due(run, progress)).values()];
    return due.length === 0 ? undefined : Math.min(...due);
  }

  /** Makes all calls at once that wait for their time. How many tries there are stays the same.
   *  @returns the run; undefined when there is no such run
   *  @throws ServiceError run_not_waiting */
  async retryNow(env: string, runId: string): Promise<Run | undefined> {
    const run = await this.#runs.read(env, runId);
    if (!run) return undefined;
    const due = await this.#due(run, await this.#steps.progress(env, runId));
    const hastened = await Promise.all([...due.keys()].map((jobId) => this.#schedule.hasten(jobId)));
    if (!hastened.includes(true)) throw new ServiceError('run_not_waiting', { detail: `it is ${run.status}` });
    return this.#runs.read(env, runId);
  }

  async #due(run: Run, { pending, done }: Progress): Promise<Map<string, number>> {
    if (hasEnded(run)) return new Map();
    const planned = [...pending].filter(([, { op }]) => op === 'StepPlanned').map(([stepId]) => stepId);
    return this.#schedule.due([{ runId: run.id, at: done }, ...planned.map((stepId) => ({ runId: run.id, stepId }))]);
  }

  /** A retry outlives the record of the run that it does again, so counting those that are there counts them all. */
  async #nextRetry({ env, id: runId }: Run): Promise<{ id: string; earlier?: Run }> {
    for (let count = 0; ; count++) {
      const id = derivedId(runId, 'retry', String(count));
      const earlier = await this.#runs.read(env, id);
      if (!earlier) return { id };
      if (!hasEnded(earlier)) return { id, earlier };
    }
  }

  async #start({ env, id: retryOf, functionId, eventId }: Run, id: string, nowMs: number): Promise<void> {
    const fn = (await this.#functions.of(env)).find(functionId);
    if (!fn || fn.archived) throw new ServiceError('function_archived', { detail: `"${functionId}" has no live app` });
    const record = await this.#events.record(env, eventId);
    if (!record) throw new ServiceError('event_gone', { detail: `"${eventId}" was kept no longer than the retention` });
    // What has cancelled the first run came before: it does not cancel this one.
    const event = { env, internalId: eventId, requestId: record.request_id, receivedAt: nowMs };
    await this.#starter.start([{ id, fn, event, dueAt: nowMs, retryOf }], nowMs);
  }
}
