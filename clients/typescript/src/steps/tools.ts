/** The `step` tools of a handler: each describes a step and waits until it is finished. */
import type { OneOrMany } from '../events.ts';
import { runTransaction, type TransactionOptions } from '../postgres/step-transaction.ts';
import type { MessageToPublish } from '../publish.ts';
import { isoDate, timeoutOf, timeString } from './duration.ts';
import type { RunOfStep, StepDescription } from './found.ts';
import { race } from './race.ts';
import type { Find } from './replay.ts';
import { currentStep } from './running-step.ts';
import type { AnyInvocation, StepTools, WaitOptions } from './types.ts';

export interface ToolsDeps {
  find: Find;
  /** Under which `step.transaction` stores results: the ID of the run. */
  runId: string;
  /** How the code of a `step.run` runs. Default: it is called. */
  runCode?(id: string, args: unknown[], fn: (...args: unknown[]) => unknown): RunOfStep;
  publish(message: MessageToPublish): Promise<void>;
  /** Resolves to the ID of the run that waited for it, or null. */
  sendSignal(signal: string, data: unknown): Promise<string | null>;
  /** Sends events with the seed of this step. */
  sendEvents(events: OneOrMany<unknown>, hashedStepId: string): Promise<unknown>;
}

export function createStepTools({
  find,
  runId,
  runCode = called,
  sendEvents,
  sendSignal,
  publish,
}: ToolsDeps): StepTools {
  // A step that fails before it is awaited must not end the process.
  const found = (describe: () => StepDescription): Promise<never> => {
    const promise = new Promise<StepDescription>((resolve) => resolve(describe())).then(find);
    promise.catch(() => {});
    return promise as Promise<never>;
  };

  return {
    run: (id: string, fn: (...args: never[]) => unknown, ...args: unknown[]) =>
      found(() => ({ kind: 'run', id: checkId(id), run: runCode(id, args, withRunningStep(fn)) })),

    transaction: (id: string, pool: unknown, fn: (tx: never) => unknown, options?: TransactionOptions) =>
      found(() => ({
        kind: 'run',
        id: checkId(id),
        opts: { type: 'step.transaction' },
        run: (step) =>
          runCode(id, [], () =>
            runTransaction({ runId, hashedId: step.hashedId, name: step.displayName }, pool, fn, options),
          )(step),
      })),

    sleep: (id, duration) =>
      found(() => {
        const name = timeString(duration);
        return { kind: 'sleep', id: checkId(id), name, opts: { duration: name } };
      }),

    sleepUntil: (id, moment) =>
      found(() => {
        const name = isoDate(moment);
        return { kind: 'sleep', id: checkId(id), name, opts: { duration: name } };
      }),

    sendEvent: (id, events) =>
      found(() => ({
        kind: 'run',
        id: checkId(id),
        name: 'sendEvent',
        opts: { type: 'step.sendEvent' },
        run: ({ hashedId }) => sendEvents(events, hashedId),
      })),

    waitForEvent: (id: string, { event, timeout, if: condition }: WaitOptions) =>
      found(() => {
        const opts = { event, timeout: timeoutOf(timeout), ...(condition && { if: condition }) };
        return { kind: 'wait', id: checkId(id), name: event, opts };
      }),

    waitForSignal: (id, { signal, timeout, conflict }) =>
      found(() => {
        const opts = { signal, timeout: timeoutOf(timeout), ...(conflict && { conflict }) };
        return { kind: 'signal', id: checkId(id), name: signal, opts };
      }),

    sendSignal: (id, { signal, data = null }) =>
      found(() => ({
        kind: 'run',
        id: checkId(id),
        name: 'sendSignal',
        opts: { type: 'step.sendSignal' },
        run: () => sendSignal(signal, data),
      })),

    publish: (id, message) =>
      found(() => ({
        kind: 'run',
        id: checkId(id),
        name: 'publish',
        opts: { type: 'step.publish' },
        run: () => publish(message),
      })),

    fetch: (id, url, { method, headers, body } = {}) =>
      found(() => {
        const opts = { url: String(url), ...(method && { method }), ...(headers && { headers }) };
        return { kind: 'fetch', id: checkId(id), opts: { ...opts, ...(body !== undefined && { body }) } };
      }),

    infer: (id, { url, format, authKey, headers, body }) =>
      found(() => {
        const opts = { type: 'step.ai.infer', url: String(url), format, ...(authKey && { auth_key: authKey }) };
        return { kind: 'infer', id: checkId(id), opts: { ...opts, ...(headers && { headers }), body } };
      }),

    race,

    invoke: (id: string, invocation: AnyInvocation) =>
      found(() => ({ kind: 'invoke', id: checkId(id), opts: invocationOnTheWire(invocation) })),
  };
}

function called(_id: string, args: unknown[], fn: (...args: unknown[]) => unknown): RunOfStep {
  return () => fn(...args);
}

/** Without arguments, the code of a step gets the step, if it declares a parameter. */
function withRunningStep(fn: (...args: never[]) => unknown): (...args: unknown[]) => unknown {
  const code = fn as (...args: unknown[]) => unknown;
  return (...args) => (args.length > 0 || code.length === 0 ? code(...args) : code(currentStep()));
}

function checkId(id: unknown): string {
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError(`A step needs an ID, a string that is its own in the function; got ${JSON.stringify(id)}`);
}

function invocationOnTheWire({ function: fn, data, user, v, timeout }: AnyInvocation): Record<string, unknown> {
  return {
    function_id: typeof fn === 'string' ? fn : `${fn.appId}-${fn.id}`,
    payload: { data: data ?? {}, ...(user && { user }), ...(v && { v }) },
    ...(timeout !== undefined && { timeout: timeoutOf(timeout) }),
  };
}
