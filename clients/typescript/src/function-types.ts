/** Types of a function: its configuration, the input of its handler, and the options of `serve`. */
import type { Checkpoint } from './checkpoint.ts';
import type { EventName, EventOf, IncomingEvent, LooseEvents, OneOrMany, Wildcard } from './events.ts';
import type { FlowControl } from './flow.ts';
import type { Logger } from './logger.ts';
import type { AnyMiddleware } from './middleware/types.ts';
import type { Invocable, StepTools } from './steps/types.ts';
import type { Versioning } from './versioning.ts';

export interface EventTrigger<Events = LooseEvents> {
  /** A name, or a wildcard such as `order/*`. */
  event: EventName<Events> | Wildcard;
  /** CEL over `event`, such as `event.data.total > 100`. */
  if?: string;
}

export interface CronTrigger {
  /** In UTC, or in a time zone: `TZ=Europe/Berlin 0 9 * * 1`. */
  cron: string;
  /** Starts each run up to this much later, by chance: spreads functions with the same schedule. */
  jitter?: string;
  /** Which missed ticks run late: all, up to the last 1,000, or only the last one (default). */
  catchUp?: 'last' | 'all';
}

export type Trigger<Events = LooseEvents> = EventTrigger<Events> | CronTrigger;

export type FunctionConfig<Triggers, Events = LooseEvents, Added extends object = object> = FunctionOptions<
  Triggers,
  Events,
  Added
> &
  FlowControl<EventName<Events>>;

export interface FunctionOptions<Triggers, Events = LooseEvents, Added extends object = object> {
  /** Unique in the app. Identifies the function: a changed ID creates a new function. */
  id: string;
  /** Display name. Default: the id. */
  name?: string;
  /** Shown in the dashboard. */
  description?: string;
  /** Shown in the dashboard's list of functions. */
  group?: string;
  /** Retries of the function and of each step, after the first attempt. Default: 4. */
  retries?: number;
  /** Whether a run whose function or step has no attempt left fails, the default, or pauses until somebody resumes it from there. */
  onExhausted?: 'fail' | 'pause';
  /** Whether a call continues after a step, once it is stored, instead of ending with the step; and how: `{ buffer: 5, maxRuntime: '30s' }`.
   *  Default: the client's. */
  checkpoint?: Checkpoint | undefined;
  /** Whether its runs end on the version of the app on which they begin (`pinned`), or continue with the newest (`latest`). Default: the client's. */
  versioning?: Versioning | undefined;
  /** Up to ten. */
  triggers: Triggers;
  /** Runs when a run of this function has failed permanently: a separate function `<id>-failure` with its own steps and retries. */
  onFailure?: FailureHandler<Events, EventOf<Events, One<Triggers>>, Added>;
}

export interface FunctionContext<Event = IncomingEvent, Events = LooseEvents> {
  event: Event;
  /** All events of this run: one, unless the function batches events. */
  events: Event[];
  step: StepTools<Events>;
  runId: string;
  /** Starts at 0, for the function or for the step that this call runs. */
  attempt: number;
  /** Maximum number of attempts, including the first. */
  maxAttempts: number;
  /** Logs each line once, although the code between steps runs again. */
  logger: Logger;
}

/** The event that the service sends when a run has failed permanently. */
export interface FailureData<Event = IncomingEvent> {
  /** `<app id>-<function id>` */
  function_id: string;
  run_id: string;
  error: {
    name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    data?: unknown;
    code?: string | number;
  };
  /** The event that triggered the failed run. */
  event: Event;
}

export type FailureEvent<Event = IncomingEvent> = IncomingEvent<'inngest/function.failed', FailureData<Event>>;

export interface FailureContext<Event = IncomingEvent, Events = LooseEvents>
  extends FunctionContext<FailureEvent<Event>, Events> {
  /** The error of the run. */
  error: Error & { data?: unknown; code?: string | number };
}

export type FailureHandler<Events, Event, Added extends object = object> = (
  context: FailureContext<Event, Events> & Added,
) => unknown;

export type One<Triggers> = Triggers extends readonly (infer Trigger)[] ? Trigger : Triggers;

/** The code of a function. Its return value, as JSON, is the output of the run; an exception fails this attempt. */
export type Handler<Events, Triggers, Output = unknown, Added extends object = object> = (
  context: FunctionContext<EventOf<Events, One<Triggers>>, Events> & Added,
) => Output;

// biome-ignore lint/suspicious/noExplicitAny: createFunction has checked the handler against the triggers' events
export type AnyHandler = (context: FunctionContext<any, any>) => unknown;

// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyFailureHandler = (context: FailureContext<any, any>) => unknown;

/** A defined function. Only `step.invoke` uses the types of its output and event data. */
// biome-ignore lint/suspicious/noExplicitAny: without known types, a function accepts any data
export interface TidegateFunction<Output = unknown, Data = any> extends Invocable<Output, Data> {
  readonly name: string;
  readonly description: string | undefined;
  readonly group: string | undefined;
  readonly retries: number;
  readonly onExhausted: 'fail' | 'pause' | undefined;
  /** undefined: the client's. */
  readonly checkpoint: Checkpoint | undefined;
  readonly versioning: Versioning | undefined;
  readonly triggers: readonly Trigger[];
  readonly flow: FlowControl;
  readonly handler: AnyHandler;
  /** Middleware of the client, then of the function; outermost first. */
  readonly middleware: readonly AnyMiddleware[];
  /** The function's failure handler, registered and served with it. */
  readonly onFailure: TidegateFunction | undefined;
}

export type AnyFunctionConfig = Omit<FunctionOptions<OneOrMany<Trigger>>, 'onFailure'> &
  FlowControl & { onFailure?: AnyFailureHandler; middleware?: readonly AnyMiddleware[] };
