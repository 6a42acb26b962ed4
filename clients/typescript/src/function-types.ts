/** What a function is configured with, what its handler gets, and what `serve` takes. */
import type { EventName, EventOf, IncomingEvent, LooseEvents, OneOrMany, Wildcard } from './events.ts';
import type { FlowControl } from './flow.ts';
import type { Logger } from './logger.ts';
import type { Invocable, StepTools } from './steps/types.ts';

export interface EventTrigger<Events = LooseEvents> {
  /** A name, or a wildcard such as `order/*`. */
  event: EventName<Events> | Wildcard;
  /** CEL over `event`, such as `event.data.total > 100`. */
  if?: string;
}

export interface CronTrigger {
  cron: string;
}

export type Trigger<Events = LooseEvents> = EventTrigger<Events> | CronTrigger;

export interface FunctionConfig<Triggers, Events = LooseEvents> extends FlowControl<EventName<Events>> {
  /** Unique in the app. The function's identity: change it and it is a new one. */
  id: string;
  /** For people. Default: the id. */
  name?: string;
  /** Retries after the first try, of the function and of each of its steps. Default: 4. */
  retries?: number;
  triggers: Triggers;
  /** Runs when a run of this function has failed for good: a function of its own, `<id>-failure`, with steps and retries. */
  onFailure?: FailureHandler<Events, EventOf<Events, One<Triggers>>>;
}

export interface FunctionContext<Event = IncomingEvent, Events = LooseEvents> {
  event: Event;
  /** All events of this run: one, unless the function takes them in batches. */
  events: Event[];
  step: StepTools<Events>;
  runId: string;
  /** 0 on the first try: of the function, or of the step that this call runs. */
  attempt: number;
  /** Tries that there are at most, the first one among them. */
  maxAttempts: number;
  /** Logs each line once, though the code between steps is repeated. */
  logger: Logger;
}

/** What the service sends when a run has failed for good. */
export interface FailureData<Event = IncomingEvent> {
  /** `<app id>-<function id>` */
  function_id: string;
  run_id: string;
  error: { name: string; message: string; stack?: string };
  /** The one that had triggered the run. */
  event: Event;
}

export type FailureEvent<Event = IncomingEvent> = IncomingEvent<'inngest/function.failed', FailureData<Event>>;

export interface FailureContext<Event = IncomingEvent, Events = LooseEvents>
  extends FunctionContext<FailureEvent<Event>, Events> {
  /** What the run failed with. */
  error: Error;
}

export type FailureHandler<Events, Event> = (context: FailureContext<Event, Events>) => unknown;

export type One<Triggers> = Triggers extends readonly (infer Trigger)[] ? Trigger : Triggers;

/** What it returns, as JSON, is the run's output. What it throws fails this attempt. */
export type Handler<Events, Triggers, Output = unknown> = (
  context: FunctionContext<EventOf<Events, One<Triggers>>, Events>,
) => Output;

// biome-ignore lint/suspicious/noExplicitAny: createFunction has checked the handler against the triggers' events
export type AnyHandler = (context: FunctionContext<any, any>) => unknown;

// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyFailureHandler = (context: FailureContext<any, any>) => unknown;

/** A function as `serve` takes it. Its output and its event's data are known to `step.invoke` only. */
// biome-ignore lint/suspicious/noExplicitAny: a function whose types are forgotten takes any data
export interface TidegateFunction<Output = unknown, Data = any> extends Invocable<Output, Data> {
  readonly name: string;
  readonly retries: number;
  readonly triggers: readonly Trigger[];
  readonly flow: FlowControl;
  readonly handler: AnyHandler;
  /** Registered and served with it. */
  readonly onFailure: TidegateFunction | undefined;
}

export type AnyFunctionConfig = Omit<FunctionConfig<OneOrMany<Trigger>>, 'onFailure'> & {
  onFailure?: AnyFailureHandler;
};
