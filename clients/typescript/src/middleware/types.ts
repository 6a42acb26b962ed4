/** Hooks of a middleware. The first middleware of a list is the outermost: it begins first and ends last. */
import type { IncomingEvent, OutgoingEvent, SendResult } from '../events.ts';

/** Kind of an encoded value: the data of an event (or of `step.invoke`), a step's result, a function's output. */
export type ValueKind = 'event' | 'step' | 'output';

/** To what an encoded value belongs, by which a moved value is recognized: `['event', name]`, `['event', name, function, caller]` of an
 *  invocation, `['step', hashed ID, function, run]`, `['output', function, run or caller]`. Functions are named `<app id>-<function id>`; a caller
 *  is the invoking `<run>.<hashed ID of its step>`. */
export type Place = readonly string[];

/** One call of a function. A run has many: its code runs again after each step. */
export interface MiddlewareRun<Added extends object = object> {
  /** The id in `createFunction`. */
  readonly functionId: string;
  readonly runId: string;
  /** Starts at 0. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The first of the events. */
  event: IncomingEvent;
  /** The handler gets these, also if they are replaced. */
  events: IncomingEvent[];
  /** Passes these values to the handler, in addition to `event` and `step`. */
  add(values: Added): void;
}

/** Wraps a `step.run` whose code runs now; not called if the stored result is replayed. */
export interface MiddlewareStep {
  readonly functionId: string;
  readonly runId: string;
  /** As in the code. */
  readonly id: string;
  /** The ID, numbered if it repeats: `id:1`. */
  readonly name: string;
  /** The arguments of the step's function: `step.run(id, fn, ...args)`. May be replaced. */
  args: unknown[];
}

/** One send of events, by the client or by a step. */
export interface MiddlewareSend {
  /** Only of `step.sendEvent`. */
  readonly functionId: string | undefined;
  readonly runId: string | undefined;
  /** May be replaced. */
  events: OutgoingEvent[];
}

export interface Middleware<Added extends object = object> {
  readonly name: string;
  /** Around each call of a function: `return next()` runs the handler and resolves to its output. What comes after it runs only in
   *  the call in which the handler returns or throws: a call that ends at a new step, sleep or wait does not come back. */
  onRun?(call: MiddlewareRun<Added>, next: () => Promise<unknown>): unknown;
  /** Around the code of a `step.run`: `return next()` resolves to its result. */
  onStep?(step: MiddlewareStep, next: () => Promise<unknown>): unknown;
  /** Around a send: `return next()` resolves to the IDs of the events. */
  onSend?(send: MiddlewareSend, next: () => Promise<SendResult>): SendResult | Promise<SendResult>;
  /** A JSON value on its way to the service. The first middleware encodes last. */
  encode?(value: unknown, kind: ValueKind, place?: Place): unknown;
  /** Decodes a JSON value. The first middleware decodes first. @param places places to which the value may belong: a re-run from a step also has
   *  results of earlier runs. undefined: clients never encode this value, such as the response of `step.fetch` */
  decode?(value: unknown, kind: ValueKind, places?: readonly Place[]): unknown;
  /** Only for types: the values that the handler gets. */
  readonly $adds?: Added;
}

// biome-ignore lint/suspicious/noExplicitAny: a middleware that adds any values
export type AnyMiddleware = Middleware<any>;

/** The values that a list of middleware gives to the handler. */
export type AddedBy<List> = List extends readonly [infer First, ...infer Rest]
  ? AddedByOne<First> & AddedBy<Rest>
  : object;

type AddedByOne<M> = M extends { readonly $adds?: infer Added }
  ? unknown extends Added
    ? object
    : NonNullable<Added>
  : object;
