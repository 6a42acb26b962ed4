/** The step tools, as types. */
import type { AnyData, EventName, EventNamed, EventToSend, LooseEvents, OneOrMany } from '../events.ts';
import type { Jsonified } from '../json.ts';
import type { SendResult } from '../send.ts';
import type { Duration } from './duration.ts';

/** What can be invoked: a function of this or another app. */
// biome-ignore lint/suspicious/noExplicitAny: a function whose types are forgotten takes any data
export interface Invocable<Output = unknown, Data = any> {
  readonly appId: string;
  readonly id: string;
  /** Only a type: there is no such property. */
  readonly $types?: { output: Output; data: Data };
}

export interface WaitOptions<Name extends string = string> {
  event: Name;
  /** How long at most; or until when. */
  timeout: Duration | Date;
  /** CEL: `event` is the one that triggered this run, `async` the one that arrives. */
  if?: string;
}

export interface InvokeOptions {
  user?: AnyData;
  v?: string;
  /** How long to wait for it at most, or until when. Default: as long as it takes. */
  timeout?: Duration | Date;
}

export interface AnyInvocation extends InvokeOptions {
  function: string | Invocable;
  data?: AnyData;
}

/** Steps are what a run remembers. A finished one is never run again, whatever happens to the app: its result, as JSON,
 *  is kept, and the code between steps is repeated at each of them. So: effects inside of steps, decisions between.
 *  Each ID is the step's own in its function; a repeated one, as in a loop, is numbered.
 *  A step that has failed for good throws a StepError where it is awaited. */
export interface StepTools<Events = LooseEvents> {
  /** Runs once; retried, by itself, when it throws. Resolves to what it returned, as JSON. */
  run<T>(id: string, fn: () => T): Promise<Jsonified<Awaited<T>>>;

  /** Milliseconds, or such as `30s`, `2h45m`, `1d`, `1w`. The run takes up no resources meanwhile. */
  sleep(id: string, duration: Duration): Promise<void>;

  /** Until a Date, or an ISO date. One that has passed does not wait. */
  sleepUntil(id: string, moment: Date | string): Promise<void>;

  /** Sends events from a function, stored once each however often the step is tried. */
  sendEvent(id: string, events: OneOrMany<EventToSend<Events>>): Promise<SendResult>;

  /** Resolves to the first such event from now on; to null when none has come in time. */
  waitForEvent<const Name extends EventName<Events>>(
    id: string,
    options: WaitOptions<Name>,
  ): Promise<EventNamed<Events, Name> | null>;

  /** Runs another function and resolves to its output; throws a StepError when it fails.
   *  As a string, a function is `<app id>-<function id>`. */
  invoke<Output, Data>(
    id: string,
    options: InvokeOptions & { function: Invocable<Output, Data>; data?: Data },
  ): Promise<Jsonified<Output>>;
  // biome-ignore lint/suspicious/noExplicitAny: nothing is known about a function that is only named
  invoke<Output = any>(id: string, options: InvokeOptions & { function: string; data?: AnyData }): Promise<Output>;
}
