/** A function invoked alone, by another run or by hand: an event of the service's own, and one run of that function on it. */

import { ServiceError } from '../../errors.ts';
import { type Envelope, type Event, FUNCTION_INVOKED, toEnvelope } from '../../model/events/event.ts';
import { derivedEventId, derivedId, newId } from '../../model/ids.ts';
import { type Op, stepName } from '../../model/runs/operation.ts';
import { type Run, runIdOf } from '../../model/runs/run.ts';
import { isJsonObject } from '../../model/values/json.ts';
import type { Events } from '../../store/events/events.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { RunStarter, RunToStart } from './run-starter.ts';
import type { RunTransitions } from './state-transitions.ts';

export class Invocations {
  readonly #events: Events;
  readonly #functions: FunctionTables;
  readonly #starter: RunStarter;
  readonly #life: RunTransitions;
  readonly #reports: Telemetry;

  constructor(
    events: Events,
    functions: FunctionTables,
    starter: RunStarter,
    life: RunTransitions,
    reports: Telemetry,
  ) {
    this.#events = events;
    this.#functions = functions;
    this.#starter = starter;
    this.#life = life;
    this.#reports = reports;
  }

  /** The run of another run's step, which it reports back to. Doing it twice makes one run: its ID and its event's are derived from the invoking step. */
  async invoke(invoking: Run, op: Op): Promise<void> {
    const functionId = op.opts?.function_id ?? '';
    const fn = (await this.#functions.of(invoking.env)).find(functionId);
    if (!fn || fn.archived) {
      const message = `step "${stepName(op)}" invokes the function ${JSON.stringify(functionId)}, which is not registered`;
      await this.#life.finishStep(invoking.env, invoking.id, op.id, { error: { name: 'FunctionNotFound', message } });
      return;
    }
    const now = Date.now();
    const event = invocationEvent(invoking, op, now);
    const invoker = { runId: invoking.id, stepId: op.id };
    await this.#start({ id: derivedId(invoking.id, 'invoke', op.id), fn, event, dueAt: now, invoker }, event, now);
  }

  /** @returns undefined when there is no such function
   *  @throws ServiceError function_archived */
  async byHand(
    env: string,
    functionId: string,
    payload: Pick<Event, 'data' | 'user' | 'v'>,
    requestId: string,
    nowMs: number,
  ): Promise<{ eventId: string; runId: string } | undefined> {
    const fn = (await this.#functions.of(env)).find(functionId);
    if (!fn) return undefined;
    if (fn.archived) throw new ServiceError('function_archived', { detail: `"${functionId}" has no live app` });
    const eventId = newId(nowMs);
    const origin = { internalId: eventId, env, receivedAt: nowMs, source: 'api', requestId, index: 0 } as const;
    const event = toEnvelope({ name: FUNCTION_INVOKED, ...payload }, origin);
    const runId = runIdOf(eventId, functionId);
    await this.#start({ id: runId, fn, event, dueAt: nowMs }, event, nowMs);
    return { eventId, runId };
  }

  async #start(run: RunToStart, event: Envelope, nowMs: number): Promise<void> {
    const stored = await this.#events.storeNew([event]);
    await this.#starter.start([run], nowMs);
    await this.#events.markIngested(stored, nowMs);
    this.#reports.ingested(stored, Date.now());
  }
}

function invocationEvent(invoking: Run, op: Op, nowMs: number): Envelope {
  const { data, user, v } = op.opts?.payload ?? {};
  const event = {
    name: FUNCTION_INVOKED,
    data: isJsonObject(data) ? data : {},
    ...(isJsonObject(user) && { user }),
    ...(typeof v === 'string' && { v }),
  };
  return toEnvelope(event, {
    internalId: derivedEventId(invoking.id, 'invoke-event', op.id),
    env: invoking.env,
    receivedAt: nowMs,
    source: 'service',
    requestId: invoking.requestId,
    index: 0,
  });
}
