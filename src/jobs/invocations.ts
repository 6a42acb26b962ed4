/** One run invokes another function: an event of the service's own, and one run of that function on it, which reports back. */
import { type Envelope, FUNCTION_INVOKED, toEnvelope } from '../model/event.ts';
import { derivedId } from '../model/ids.ts';
import { isJsonObject } from '../model/json.ts';
import { type Op, stepName } from '../model/op.ts';
import type { Run } from '../model/run.ts';
import type { Events } from '../store/events.ts';
import type { FunctionTables } from './function-tables.ts';
import type { RunLife } from './run-life.ts';
import type { RunStarter } from './run-starter.ts';

export class Invocations {
  readonly #events: Events;
  readonly #functions: FunctionTables;
  readonly #starter: RunStarter;
  readonly #life: RunLife;

  constructor(events: Events, functions: FunctionTables, starter: RunStarter, life: RunLife) {
    this.#events = events;
    this.#functions = functions;
    this.#starter = starter;
    this.#life = life;
  }

  /** Doing it twice makes one run: its ID and its event's are derived from the invoking step. */
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
    const stored = await this.#events.storeNew([event]);
    const invoker = { runId: invoking.id, stepId: op.id };
    await this.#starter.start([{ id: derivedId(invoking.id, 'invoke', op.id), fn, event, dueAt: now, invoker }], now);
    await this.#events.settle(stored, now);
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
    internalId: derivedId(invoking.id, 'invoke-event', op.id),
    env: invoking.env,
    receivedAt: nowMs,
    source: 'service',
    requestId: invoking.requestId,
    index: 0,
  });
}
