import { type EventSchemas, type EventsOf, validateEvents } from './event-schemas.ts';
import type { EventOf, EventToSend, EventTypes, LooseEvents, OneOrMany } from './events.ts';
import type {
  AnyFunctionConfig,
  AnyHandler,
  FunctionConfig,
  Handler,
  One,
  TidegateFunction,
  Trigger,
} from './function-types.ts';
import { defineFunction, refuseMoreArguments } from './functions.ts';
import { refuseUnknown } from './options.ts';
import { type SendOptions, type SendResult, sendEvents } from './send.ts';
import { CLIENT_OPTIONS, type ClientOptions, readSettings, type Settings } from './settings.ts';
import { sendSignal } from './signals.ts';

class Client<Events> {
  readonly id: string;
  readonly #options: ClientOptions;
  readonly #schemas: EventSchemas | undefined;

  constructor({ schemas, ...options }: ClientOptions & { schemas?: EventSchemas }) {
    refuseUnknown('A client', options, CLIENT_OPTIONS);
    if (!options.id) throw new TypeError('A client needs an id: the name of its app');
    this.id = options.id;
    this.#options = options;
    this.#schemas = schemas;
  }

  /** Sends one or more events, in several requests if their size requires it. Await it: a process that exits earlier may
   *  not have sent them. In a function, prefer `step.sendEvent`.
   *  @throws SendError if the service rejects them or cannot be reached, or after a timeout; InvalidEventError if an event
   *  does not match its schema; ConfigError */
  async send(events: OneOrMany<EventToSend<Events>>, options: SendOptions = {}): Promise<SendResult> {
    const batch = [events].flat() as { name: string; data: unknown }[];
    if (batch.length === 0) return { ids: [] };
    const valid = this.#schemas ? await validateEvents(batch, this.#schemas) : batch;
    return sendEvents(valid, this.settings(), options);
  }

  /** Like `send`, for an array. */
  sendMany(events: readonly EventToSend<Events>[], options: SendOptions = {}): Promise<SendResult> {
    return this.send(events, options);
  }

  /** Sends a signal to the step that waits for it. Resolves to the ID of its run, or to null if no step waits. In a function,
   *  prefer `step.sendSignal`.
   *  @throws SendError if the service refuses it or cannot be reached; ConfigError */
  async sendSignal(signal: string, data: unknown = null): Promise<string | null> {
    return sendSignal(signal, data, this.settings());
  }

  /** Defines a function. Pass it to `serve` and register the app to run it.
   *  @throws TypeError if the configuration is invalid */
  createFunction<const Triggers extends OneOrMany<Trigger<Events>>, Output>(
    config: FunctionConfig<Triggers, Events>,
    handler: Handler<Events, Triggers, Output>,
    ...more: []
  ): TidegateFunction<Awaited<Output>, EventOf<Events, One<Triggers>>['data']> {
    refuseMoreArguments(more);
    const fn = defineFunction(this.id, config as unknown as AnyFunctionConfig, handler as AnyHandler);
    return fn as TidegateFunction<Awaited<Output>>;
  }

  /** The current settings. */
  settings(): Settings {
    return readSettings(this.#options);
  }
}

/** The client of an app. Create one and share it. */
export type Tidegate<Events = LooseEvents> = Client<Events>;

interface TidegateConstructor {
  /** With schemas (zod, valibot, …) for the data of the app's events, which also validate sent events:
   *  `new Tidegate({ id: 'shop', schemas: { 'order/paid': z.object({ total: z.number() }) } })`. */
  new <Schemas extends EventSchemas>(options: ClientOptions & { schemas: Schemas }): Tidegate<EventsOf<Schemas>>;

  /** With a type argument that declares the app's events:
   *  `new Tidegate<{ 'order/paid': { data: { total: number } } }>({ id: 'shop' })`; without one, it accepts any events. */
  new <Events extends EventTypes<Events> = LooseEvents>(options: ClientOptions): Tidegate<Events>;
}

export const Tidegate: TidegateConstructor = Client;
