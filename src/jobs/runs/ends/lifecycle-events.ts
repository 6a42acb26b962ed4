/** Events about the end and the pause of runs. `function.failed` is stored for every failed run; the others only if a
 *  function or a wait of the environment might match them (docs/decisions/0020-lifecycle-events.md). Their IDs are
 *  derived from the run, so sending an event again changes nothing. */

import {
  type Event,
  type EventRecord,
  exactRecordOf,
  receivedEventOf,
  recordOf,
  triggerEventOf,
} from '../../../model/events/event.ts';
import {
  correlationId,
  FUNCTION_CANCELLED,
  FUNCTION_FAILED,
  FUNCTION_FINISHED,
  RUN_PAUSED,
  reportsEndOrPause,
} from '../../../model/events/lifecycle.ts';
import type { Pause } from '../../../model/runs/pause.ts';
import type { Run } from '../../../model/runs/run.ts';
import type { RunError } from '../../../model/runs/run-error.ts';
import { eventError, failedOutput, type RunFailure } from '../../../model/runs/run-failure.ts';
import { Composed } from '../../../model/values/composed.ts';
import { isShallowJson, parseStored } from '../../../model/values/json.ts';
import { iso } from '../../../model/values/time.ts';
import type { Store } from '../../../store/store.ts';
import type { Acceptor } from '../../acceptance/acceptor.ts';
import type { ExpressionEvaluator } from '../../functions/expression-evaluator.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import { triggeredFunctions } from '../../functions/triggered-functions.ts';

/** Larger results are omitted, because events are smaller than outputs may be. */
const RESULT_MAX_LENGTH = 262_144;
/** A larger batch is truncated to its first events, because an ingest job carries the event. */
const EVENTS_MAX_LENGTH = 1_048_576;
const CANCELLED = 'function cancelled';

export interface LifecycleEventsDeps extends Pick<Store, 'ids' | 'events' | 'waits'> {
  functions: FunctionTables;
  acceptor: Acceptor;
  evaluator: ExpressionEvaluator;
}

/** The events that triggered a run. */
type Causes = [EventRecord, ...EventRecord[]];

/** Values from which each event's ID is derived. */
const ID_PARTS: Record<string, string> = {
  [FUNCTION_FAILED]: 'failed',
  [FUNCTION_FINISHED]: 'finished',
  [FUNCTION_CANCELLED]: 'cancelled',
  [RUN_PAUSED]: 'paused',
};

export class LifecycleEvents extends Composed<LifecycleEventsDeps> {
  /** Call before the run is stored as failed: if the process dies in between, its job repeats both.
   *  @param cause the event that triggered the run, if available */
  async failed(run: Run, failure: RunFailure, cause?: EventRecord): Promise<void> {
    const events = await this.#causes(run, cause);
    if (!events) return;
    const fn = await this.deps.functions.find(run.env, run.functionId);
    const data = {
      ...dataOf(run, events, 'Failed'),
      error: eventError(failure, fn?.dialect),
      ...resultOf(failedOutput(failure, fn?.dialect)),
    };
    await this.#send(run, FUNCTION_FAILED, data);
    await this.#sendIfHeard(run, FUNCTION_FINISHED, data, await this.#isAwaited(run, FUNCTION_FINISHED));
  }

  /** Call after the run is stored as completed: if the process dies in between, its job finds an ended run, and calls this.
   *  @param awaited whether runs wait for an event of this name; undefined: look it up */
  async completed(run: Run, cause?: EventRecord, awaited?: boolean): Promise<void> {
    const { env } = run;
    const listening = (await this.deps.functions.recent(env)).isTrigger(FUNCTION_FINISHED);
    if (awaited === false && !listening) return;
    const isAwaited = awaited ?? (await this.#isAwaited(run, FUNCTION_FINISHED));
    if (!isAwaited && !listening) return;
    const events = await this.#causes(run, cause);
    if (!events) return;
    const data = { ...dataOf(run, events, 'Completed'), ...resultOf(run.output ?? 'null') };
    await this.#sendIfHeard(run, FUNCTION_FINISHED, data, isAwaited);
  }

  /** Call before the run is stored as cancelled: afterwards nothing repeats the cancellation. */
  async cancelled(run: Run): Promise<void> {
    const isAwaited = await this.#isAwaited(run, FUNCTION_CANCELLED);
    // Reads the current functions, which `#sendIfHeard` uses too: cancellations are rare, and people cancel right after a registration.
    if (!isAwaited && !(await this.deps.functions.of(run.env)).isTrigger(FUNCTION_CANCELLED)) return;
    const events = await this.#causes(run);
    if (!events) return;
    const error = { error: CANCELLED, name: 'Error', message: CANCELLED };
    const data = { ...dataOf(run, events, 'Cancelled'), error };
    await this.#sendIfHeard(run, FUNCTION_CANCELLED, data, isAwaited);
  }

  /** Call after the pause is stored, and before its mark for the error group is removed: whoever finds the mark calls this again. */
  async paused(run: Run & { pause: Pause; error: RunError }): Promise<void> {
    const isAwaited = await this.#isAwaited(run, RUN_PAUSED);
    // Reads the current functions, as `cancelled` does.
    if (!isAwaited && !(await this.deps.functions.of(run.env)).isTrigger(RUN_PAUSED)) return;
    const events = await this.#causes(run);
    if (!events) return;
    const { pause, error } = run;
    const fn = await this.deps.functions.find(run.env, run.functionId);
    const data = {
      ...dataOf(run, events, 'Paused'),
      error: eventError({ error }, fn?.dialect),
      reason: pause.reason,
      step: pause.step ?? null,
      paused_at: iso(pause.since),
    };
    await this.#sendIfHeard(run, RUN_PAUSED, data, isAwaited);
  }

  /** @returns undefined if the end or pause of the run is not reported */
  async #causes(run: Run, cause?: EventRecord): Promise<Causes | undefined> {
    const stored = cause && !run.batch ? [cause] : await this.deps.events.records(run.env, run.batch ?? [run.eventId]);
    const [first, ...rest] = stored.filter((event) => event !== undefined);
    return first && !reportsEndOrPause(first.name) ? [first, ...rest] : undefined;
  }

  async #isAwaited({ env }: Run, name: string): Promise<boolean> {
    return this.deps.waits.areAny(env, name);
  }

  /** Sends the event if a run waits for one of its name, or it triggers a function. */
  async #sendIfHeard(run: Run, name: string, data: Event['data'], isAwaited: boolean): Promise<void> {
    if (isAwaited || (await this.#triggersFunction(run, { name, data }))) await this.#send(run, name, data);
  }

  async #triggersFunction(run: Run, event: Event): Promise<boolean> {
    const { evaluator, functions } = this.deps;
    const table = await functions.recent(run.env);
    if (!table.isTrigger(event.name)) return false;
    const now = Date.now();
    const internalId = this.#idOf(run, event.name);
    const parts = { internalId, receivedAt: now, requestId: run.requestId, index: 0 };
    const read = () => triggerEventOf(recordOf({ ...parts, payload: JSON.stringify(event) }), 'service');
    const triggering = { env: run.env, name: event.name, receivedAt: now, read };
    for await (const _ of triggeredFunctions(table, triggering, evaluator)) return true;
    await evaluator.reportSkipped();
    return false;
  }

  #idOf(run: Run, name: string): string {
    // A run may pause again after it was resumed.
    const pause = name === RUN_PAUSED && run.pause ? [String(run.pause.since)] : [];
    return this.deps.ids.derivedEvent(run.id, ID_PARTS[name] as string, ...pause);
  }

  async #send(run: Run, name: string, data: Event['data']): Promise<void> {
    await this.deps.acceptor.acceptWithId({ name, data }, this.#idOf(run, name), {
      env: run.env,
      source: 'service',
      requestId: run.requestId,
      receivedAt: Date.now(),
    });
  }
}

function dataOf(run: Run, causes: Causes, status: 'Completed' | 'Failed' | 'Cancelled' | 'Paused'): Event['data'] {
  const event = sentEventOf(causes[0]);
  return {
    function_id: run.functionId,
    run_id: run.id,
    event,
    events: causes.length === 1 ? [event] : withinLimit(causes.map(sentEventOf)),
    ...(run.invoker && { correlation_id: correlationId(run.invoker) }),
    _inngest: { status },
  };
}

/** With all digits, because expressions compare the event with others. */
function sentEventOf(record: EventRecord) {
  return receivedEventOf(exactRecordOf(record));
}

function withinLimit(events: readonly Event[]): Event[] {
  let length = 0;
  const end = events.findIndex((event) => {
    length += JSON.stringify(event).length;
    return length > EVENTS_MAX_LENGTH;
  });
  return events.slice(0, end === -1 ? events.length : Math.max(1, end));
}

/** @param output JSON text */
function resultOf(output: string): { result?: unknown } {
  if (output.length > RESULT_MAX_LENGTH || !isShallowJson(output)) return {};
  try {
    return { result: parseStored(output) };
  } catch {
    return {};
  }
}
