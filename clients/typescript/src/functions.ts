/** A function: what it is called, what triggers it, and the handler that runs. */
import type { EventName, EventOf, IncomingEvent, LooseEvents, Wildcard } from './events.ts';

const DEFAULT_RETRIES = 4;

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

export type OneOrMany<T> = T | readonly T[];

export interface FunctionConfig<Triggers> {
  /** Unique in the app. The function's identity: change it and it is a new one. */
  id: string;
  /** For people. Default: the id. */
  name?: string;
  /** Retries after the first try. Default: 4. */
  retries?: number;
  triggers: Triggers;
}

export interface FunctionContext<Event = IncomingEvent> {
  event: Event;
  /** All events of this run: one, unless the function takes them in batches. */
  events: Event[];
  runId: string;
  /** 0 on the first try. */
  attempt: number;
}

type One<Triggers> = Triggers extends readonly (infer Trigger)[] ? Trigger : Triggers;

/** What it returns, as JSON, is the run's output. What it throws fails this attempt. */
export type Handler<Events, Triggers> = (context: FunctionContext<EventOf<Events, One<Triggers>>>) => unknown;

// biome-ignore lint/suspicious/noExplicitAny: createFunction has checked the handler against the triggers' events
type AnyHandler = (context: FunctionContext<any>) => unknown;

/** A function as `serve` takes it, its types forgotten. */
export interface TidegateFunction {
  readonly id: string;
  readonly name: string;
  readonly retries: number;
  readonly triggers: readonly Trigger[];
  readonly handler: AnyHandler;
}

/** @throws TypeError when the configuration makes no sense */
export function defineFunction(config: FunctionConfig<OneOrMany<Trigger>>, handler: AnyHandler): TidegateFunction {
  const { id, name = id, retries = DEFAULT_RETRIES } = config;
  const triggers = [config.triggers].flat();
  if (!id) throw new TypeError('A function needs an id');
  if (!Number.isInteger(retries) || retries < 0) {
    throw new TypeError(`Function "${id}": retries must be a whole number from 0, got ${retries}`);
  }
  if (triggers.length === 0) throw new TypeError(`Function "${id}" has no triggers, so it would never run`);
  for (const trigger of triggers) checkTrigger(id, trigger);
  return Object.freeze({ id, name, retries, triggers, handler });
}

/** Type checks let unknown fields pass here, and a misspelt `if` would run the function on every event. */
function checkTrigger(id: string, trigger: Trigger): void {
  const fields = Object.keys(trigger).sort().join();
  if (['event', 'event,if', 'cron'].includes(fields)) return;
  throw new TypeError(`Function "${id}": a trigger has event and perhaps if, or cron; got ${JSON.stringify(trigger)}`);
}
