/** The moves that a run can make whoever moves it: a step comes to its end, the run completes, fails, or is cancelled.
 *  Each may be made twice; what was first stands. */
import { type Event, type EventRecord, FUNCTION_FAILED, payloadOf } from '../../model/events/event.ts';
import { derivedEventId } from '../../model/ids.ts';
import { MAX_STATE_BYTES, MAX_STEPS, type Memo, type Pending } from '../../model/runs/memo.ts';
import { DEFAULT_RETRIES } from '../../model/runs/retry.ts';
import type { Ending, Run, RunError } from '../../model/runs/run.ts';
import { isShallowJson, MAX_DEPTH } from '../../model/values/json.ts';
import type { Events } from '../../store/events/events.ts';
import { isStoreFailure } from '../../store/redis/connection.ts';
import type { LeftOver, Runs } from '../../store/runs/runs.ts';
import type { Steps } from '../../store/runs/steps.ts';
import type { Acceptor } from '../ingestion/acceptor.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';
import { refOf } from '../queues/queues.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { waitOf } from './run-history.ts';
import type { RunScheduler } from './run-scheduler.ts';

export interface RunTransitionsDeps {
  runs: Runs;
  steps: Steps;
  events: Events;
  functions: FunctionTables;
  schedule: RunScheduler;
  acceptor: Acceptor;
  reports: Telemetry;
}

export class RunTransitions {
  readonly #deps: RunTransitionsDeps;

  constructor(deps: RunTransitionsDeps) {
    this.#deps = deps;
  }

  /** Stores what a step came to, and has the function called again with it. */
  async finishStep(env: string, runId: string, stepId: string, memo: Memo): Promise<void> {
    const result = await this.#deps.steps.memoize(env, runId, stepId, memo);
    switch (result.outcome) {
      case 'stored':
        if (result.was) await this.#endWait(result.run, stepId, result.was, memo);
        return this.goOn(result.run, result.stackLength);
      case 'there':
        // A call with all that is done may have been answered: to make it again would do nothing.
        if ((await this.#deps.runs.answeredAt(env, runId)) >= result.stackLength) return;
        return this.goOn(result.run, result.stackLength);
      case 'steps':
        return this.fail(
          result.run,
          limit('TooManySteps', `the run has more than ${MAX_STEPS} steps; hand parts of it to other functions`),
        );
      case 'bytes':
        return this.fail(
          result.run,
          limit(
            'StateTooLarge',
            `the outputs of the run's steps are larger than ${MAX_STATE_BYTES} bytes together; keep large data elsewhere`,
          ),
        );
      case 'ended':
      case 'gone':
        return;
    }
  }

  /** The end of a step that no call brings, and so no call writes down. Nothing needs to wake it any more. */
  async #endWait({ env, id }: Run, stepId: string, step: Pending, memo: Memo): Promise<void> {
    if (step.op === 'StepPlanned') return;
    await this.#deps.runs.appendHistory(env, id, [waitOf(stepId, step, memo, Date.now())]);
    // A sleep is ended by nothing but its own wake job, which is at work.
    if (step.op !== 'Sleep' && step.until !== undefined) await this.#deps.schedule.dropWakes(id, [stepId]);
  }

  /** Has the function called with the `done` steps that it has finished. */
  async goOn(run: Run, done: number): Promise<void> {
    await this.#deps.schedule.call({ ref: refOf(run), at: done, retries: await this.#retriesOf(run) });
  }

  async complete(run: Run, output: string): Promise<void> {
    await this.#end(run, { status: 'Completed', output });
  }

  /** The word of the failure goes out first: should this process die between the two, doing both again changes nothing.
   *  @param event that caused the run, where it is at hand */
  async fail(run: Run, error: RunError, event?: EventRecord): Promise<void> {
    await this.#end(run, { status: 'Failed', error: await this.#announced(run, error, event) });
  }

  /** @returns the run; undefined when there is none. One that has ended stays as it is. */
  async cancel(env: string, runId: string): Promise<Run | undefined> {
    const run = await this.#deps.runs.read(env, runId);
    if (run) await this.#end(run, { status: 'Cancelled' });
    return this.#deps.runs.read(env, runId);
  }

  /** Hands the result of a run that has ended to the step that invoked it. */
  async tellInvoker(run: Run): Promise<void> {
    if (!run.invoker) return;
    await this.finishStep(run.env, run.invoker.runId, run.invoker.stepId, resultOf(run));
  }

  async #end(run: Run, ending: Ending): Promise<void> {
    const { runs, reports } = this.#deps;
    const leftOver = await runs.end(run, ending, Date.now());
    if (leftOver) reports.ended(run, ending.status);
    const ended = await this.#asEnded(run, ending);
    await this.tellInvoker(ended);
    // Last: a job that stays finds a run that has ended, and does nothing.
    if (leftOver) await this.#dropJobs(run.id, ending, leftOver);
  }

  /** Jobs that would wait for their time, maybe for months, to find a run that has ended. */
  async #dropJobs(runId: string, { status }: Ending, { done, pending }: LeftOver): Promise<void> {
    const { schedule } = this.#deps;
    const calls = [...pending].filter(([, { op }]) => op === 'StepPlanned').map(([stepId]) => ({ runId, stepId }));
    const wakes = [...pending].filter(([, { until }]) => until !== undefined).map(([stepId]) => stepId);
    if (wakes.length > 0) await schedule.dropWakes(runId, wakes);
    // A run completes in the very call that would be next.
    await schedule.dropCalls(status === 'Completed' ? calls : [...calls, { runId, at: done }]);
  }

  /** What ended the run first stands; an invoker must be told that, and nothing else. */
  async #asEnded(run: Run, ending: Ending): Promise<Run> {
    if (!run.invoker) return { ...run, ...ending };
    return (await this.#deps.runs.read(run.env, run.id)) ?? { ...run, ...ending };
  }

  /** @returns the error with which the run fails: a run whose event cannot be read, or not be passed on, fails all the same */
  async #announced(run: Run, error: RunError, event: EventRecord | undefined): Promise<RunError> {
    try {
      const cause = event ?? (await this.#deps.events.record(run.env, run.eventId));
      // A handler of failures that fails is not itself announced: nothing would end that.
      if (cause && cause.name !== FUNCTION_FAILED) await this.#announceFailure(run, cause, error);
      return error;
    } catch (fault) {
      if (isStoreFailure(fault)) throw fault;
      return { ...error, message: `${error.message} (${FUNCTION_FAILED} was not sent: ${(fault as Error).message})` };
    }
  }

  async #announceFailure(run: Run, event: EventRecord, error: RunError): Promise<void> {
    const payload = payloadOf(event);
    const data = { function_id: run.functionId, run_id: run.id, error, event: payload, events: [payload] };
    const failed: Event = { name: FUNCTION_FAILED, data };
    await this.#deps.acceptor.acceptOwn(failed, derivedEventId(run.id, 'failed'), {
      env: run.env,
      source: 'service',
      requestId: run.requestId,
      receivedAt: Date.now(),
    });
  }

  async #retriesOf(run: Run): Promise<number> {
    return (await this.#deps.functions.find(run.env, run.functionId))?.retries ?? DEFAULT_RETRIES;
  }
}

function limit(name: string, message: string): RunError {
  return { name, message };
}

function resultOf({ id, status, output = 'null', error }: Run): Memo {
  if (status === 'Completed') return outputOf(id, output);
  return { error: error ?? { name: 'InvokedRunCancelled', message: `the invoked run ${id} was cancelled` } };
}

/** Outputs are held to MAX_DEPTH where they come in; one that was stored before that must not keep its invoker waiting. */
function outputOf(runId: string, output: string): Memo {
  try {
    if (isShallowJson(output)) return { data: JSON.parse(output) };
  } catch {
    // Told below.
  }
  const message = `the output of the invoked run ${runId} is no JSON, or nested deeper than ${MAX_DEPTH} levels`;
  return { error: { name: 'OutputUnreadable', message } };
}
