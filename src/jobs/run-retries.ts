/** Doing a run that has ended again, as a new run of the same function on the same event. */
import { ServiceError } from '../errors.ts';
import { derivedId } from '../model/ids.ts';
import { hasEnded, type Run } from '../model/run.ts';
import type { Events } from '../store/events.ts';
import type { Runs } from '../store/runs.ts';
import type { FunctionTables } from './function-tables.ts';
import type { RunStarter } from './run-starter.ts';

export class RunRetries {
  readonly #runs: Runs;
  readonly #events: Events;
  readonly #functions: FunctionTables;
  readonly #starter: RunStarter;

  constructor(runs: Runs, events: Events, functions: FunctionTables, starter: RunStarter) {
    this.#runs = runs;
    this.#events = events;
    this.#functions = functions;
    this.#starter = starter;
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
