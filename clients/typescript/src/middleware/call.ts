/** The middleware of a function, in one call of it. */
import type { Call } from '../call.ts';
import type { IncomingEvent } from '../events.ts';
import type { TidegateFunction } from '../function-types.ts';
import type { DecodeMemo } from '../steps/board.ts';
import type { RunOfStep } from '../steps/found.ts';
import type { Find, Progress } from '../steps/replay.ts';
import { aroundRun, aroundStep } from './chain.ts';
import { codecOf, decodeCall, decodeMemo, encodeInvocation } from './codec.ts';
import { placesOf } from './places.ts';
import type { MiddlewareRun } from './types.ts';

type Failed = Extract<Progress, { kind: 'failed' }>;
type Events = Pick<Call, 'event' | 'events'>;

export interface CallMiddleware {
  /** Decodes the events. */
  decode(call: Call): Promise<Call | Failed>;
  decodeMemo: DecodeMemo | undefined;
  /** Results of steps that run here are encoded before they are reported. */
  encodeResults(find: Find): Find;
  /** The code of a `step.run`, within `onStep`. */
  runCode(id: string, args: unknown[], fn: (...args: unknown[]) => unknown): RunOfStep;
  /** Calls the handler within `onRun`. */
  run(call: Call, handler: (events: Events, added: object) => unknown): unknown;
  /** Encodes the output and new invocations. */
  encode(progress: Progress): Promise<Progress>;
}

/** Fields that a handler's context always has. */
const RESERVED = ['event', 'events', 'step', 'runId', 'attempt', 'maxAttempts', 'logger', 'error'];

export function createCallMiddleware(fn: TidegateFunction, given: Call): CallMiddleware {
  const { middleware } = fn;
  const { runId } = given;
  const codec = codecOf(middleware);
  const places = placesOf(fn, given);
  /** The failure of a hook that threw before the handler began. It does not mean that the function lacks the requested step. */
  let failedBefore: Failed | undefined;

  return {
    decode: async (call) => (codec ? attempt(() => decodeCall(call, codec)) : call),

    decodeMemo: codec && ((step, memo) => decodeMemo(step, memo, codec, places)),

    encodeResults(find) {
      if (!codec) return find;
      return (description) => {
        const { run } = description;
        if (!run) return find(description);
        const encoded = async (step: Parameters<RunOfStep>[0]) =>
          codec.encode(await run(step), 'step', places.step(step.hashedId));
        return find({ ...description, run: encoded });
      };
    },

    runCode: (id, args, fnOfStep) => {
      if (middleware.length === 0) return () => fnOfStep(...args);
      return ({ displayName }) => {
        const step = { functionId: fn.id, runId, id, name: displayName, args: [...args] };
        return aroundStep(middleware, step, () => fnOfStep(...step.args));
      };
    },

    run(call, handler) {
      if (middleware.length === 0) return handler({ event: call.event, events: call.events }, {});
      const added: Record<string, unknown> = {};
      const run = runOf(fn, call, added);
      let began = false;
      return aroundRun(middleware, run, () => {
        began = true;
        return handler({ event: run.event, events: run.events }, added);
      }).catch((error) => {
        if (!began) failedBefore = { kind: 'failed', error };
        throw error;
      });
    },

    async encode(progress) {
      if (failedBefore) return failedBefore;
      if (!codec || progress.kind === 'failed') return progress;
      return attempt(async () => {
        if (progress.kind === 'done')
          return { ...progress, output: await codec.encode(progress.output, 'output', places.output) };
        return { ...progress, ops: await Promise.all(progress.ops.map((op) => encodeInvocation(op, codec, places))) };
      });
    },
  };
}

function runOf(fn: TidegateFunction, call: Call, added: Record<string, unknown>): MiddlewareRun {
  const { runId, attempt, maxAttempts = fn.retries + 1 } = call;
  return {
    functionId: fn.id,
    runId,
    attempt,
    maxAttempts,
    events: [...call.events],
    get event() {
      return this.events[0] as IncomingEvent;
    },
    set event(event) {
      this.events = [event, ...this.events.slice(1)];
    },
    add(values) {
      const taken = Object.keys(values).find((name) => RESERVED.includes(name));
      if (taken) throw new TypeError(`A middleware cannot add "${taken}": handlers have it already`);
      Object.assign(added, values);
    },
  };
}

async function attempt<T>(change: () => Promise<T>): Promise<T | Failed> {
  try {
    return await change();
  } catch (error) {
    return { kind: 'failed', error };
  }
}
