/** Types of the step tools. */
import type { AnyData, EventName, EventNamed, EventToSend, LooseEvents, OneOrMany } from '../events.ts';
import type { Jsonified } from '../json.ts';
import type { TransactionOptions } from '../postgres/step-transaction.ts';
import type { AnyPool, TransactionOf } from '../postgres/types.ts';
import type { MessageToPublish } from '../publish.ts';
import type { SendResult } from '../send.ts';
import type { Duration } from './duration.ts';
import type { RunningStep } from './running-step.ts';

/** A function of this or another app to invoke. */
// biome-ignore lint/suspicious/noExplicitAny: without known types, a function accepts any data
export interface Invocable<Output = unknown, Data = any> {
  readonly appId: string;
  readonly id: string;
  /** Only for types; does not exist at run time. */
  readonly $types?: { output: Output; data: Data };
}

export interface WaitOptions<Name extends string = string> {
  event: Name;
  /** Duration or date. */
  timeout: Duration | Date;
  /** CEL: `event` is the event that triggered this run, `async` the received event. */
  if?: string;
}

export interface WaitForSignalOptions {
  /** Name of the signal, unique in the environment while a step waits for it. */
  signal: string;
  /** Duration or date. */
  timeout: Duration | Date;
  /** If another step waits for the signal: fail the run, or take the signal from the other step, which then times out.
   *  Default: fail. */
  conflict?: 'fail' | 'replace';
}

export interface Signal<Data = unknown> {
  signal: string;
  data: Data;
}

export interface FetchOptions {
  /** Default: GET. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** Text; anything else is sent as JSON. */
  body?: unknown;
}

/** The response to `step.fetch`, whatever its status. */
export interface FetchResponse {
  status: number;
  /** With names as in `Content-Type`. */
  headers: Record<string, string>;
  body: string | null;
  /** The URL without its query. */
  url: string;
}

/** How the service places the key of a provider of models. */
export type InferFormat =
  | 'openai-chat'
  | 'openai-responses'
  | 'anthropic'
  | 'gemini'
  | 'azure-openai'
  | 'grok'
  | 'bedrock';

export interface InferOptions {
  /** The provider's URL, such as `https://api.openai.com/v1/chat/completions`. */
  url: string | URL;
  /** An unknown one is sent `authorization: Bearer <key>`. */
  format: InferFormat | (string & {});
  /** The service keeps it encrypted until the response is there. */
  authKey?: string;
  headers?: Readonly<Record<string, string>>;
  /** The provider's request. */
  body: Readonly<AnyData>;
}

export interface InvokeOptions {
  user?: AnyData;
  v?: string;
  /** Duration or date. Default: no timeout. */
  timeout?: Duration | Date;
}

export interface AnyInvocation extends InvokeOptions {
  function: string | Invocable;
  data?: AnyData;
}

/** The service stores the JSON results of finished steps and never runs them again; the code between steps runs again after each
 *  one. Put side effects inside steps and decisions between them.
 *  Step IDs must be unique in a function; repeated IDs, as in a loop, are numbered.
 *  A step that failed permanently throws a StepError where it is awaited. */
export interface StepTools<Events = LooseEvents> {
  /** Runs once; retried on its own when it throws. Resolves to its return value as JSON. Its `idempotencyKey`, the same in all attempts, makes
   *  calls of other services safe to repeat; `currentStep()` has it too. */
  run<T>(id: string, fn: (step: RunningStep) => T): Promise<Jsonified<Awaited<T>>>;
  /** With these arguments. */
  run<T, Args extends [unknown, ...unknown[]]>(
    id: string,
    fn: (...args: Args) => T,
    ...args: Args
  ): Promise<Jsonified<Awaited<T>>>;

  /** Runs in a transaction of the app's own Postgres, in which its result is stored too: what it writes is there exactly once, whatever dies. Conflicts
   *  with other transactions are tried again. `tx` is the transaction of the library: pg, postgres.js, Drizzle, Prisma, Knex or Kysely. */
  transaction<T, Pool extends AnyPool>(
    id: string,
    pool: Pool,
    fn: (tx: TransactionOf<Pool>) => T,
    options?: TransactionOptions,
  ): Promise<Jsonified<Awaited<T>>>;

  /** Milliseconds, or a string such as `30s`, `2h45m`, `1d`, `1w`. The run uses no resources meanwhile. */
  sleep(id: string, duration: Duration): Promise<void>;

  /** Until a Date or an ISO date. Does not wait for a date in the past. */
  sleepUntil(id: string, moment: Date | string): Promise<void>;

  /** Sends events from a function; retries of the step create no duplicates. */
  sendEvent(id: string, events: OneOrMany<EventToSend<Events>>): Promise<SendResult>;

  /** Resolves to the next matching event, or to null after the timeout. */
  waitForEvent<const Name extends EventName<Events>>(
    id: string,
    options: WaitOptions<Name>,
  ): Promise<EventNamed<Events, Name> | null>;

  /** Resolves to the signal, or to null after the timeout. Unlike an event, a signal reaches one step, and is not stored. */
  // biome-ignore lint/suspicious/noExplicitAny: nothing declares the data of signals
  waitForSignal<Data = any>(id: string, options: WaitForSignalOptions): Promise<Signal<Data> | null>;

  /** Resolves to the ID of the run that waited for the signal, or to null if no step did. */
  sendSignal(id: string, signal: { signal: string; data?: unknown }): Promise<string | null>;

  /** Publishes a message to those who have subscribed to its channel and topic. */
  publish(id: string, message: MessageToPublish): Promise<void>;

  /** The service makes the request, so that the app does not wait for it. Throws a StepError if there is no response. */
  fetch(id: string, url: string | URL, options?: FetchOptions): Promise<FetchResponse>;

  /** The service asks a model of any provider. Resolves to the JSON of the response; throws a StepError if the provider
   *  refuses. */
  // biome-ignore lint/suspicious/noExplicitAny: the provider determines the response
  infer<Response = any>(id: string, request: InferOptions): Promise<Response>;

  /** Like `Promise.race`, but the function continues as soon as the first branch has ended. With `Promise.all` and `Promise.race` it continues
   *  when all pending steps have ended. The steps of the other branches still run. */
  race<Branches extends readonly (() => unknown)[]>(branches: Branches): Promise<Awaited<ReturnType<Branches[number]>>>;

  /** Runs another function and resolves to its output; throws a StepError if it fails.
   *  A string names a function as `<app id>-<function id>`. */
  invoke<Output, Data>(
    id: string,
    options: InvokeOptions & { function: Invocable<Output, Data>; data?: Data },
  ): Promise<Jsonified<Output>>;
  // biome-ignore lint/suspicious/noExplicitAny: the types of a named function are unknown
  invoke<Output = any>(id: string, options: InvokeOptions & { function: string; data?: AnyData }): Promise<Output>;
}
