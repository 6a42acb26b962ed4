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

  /** Sends one event or several, split into as many requests as their size needs. Await it: a process that ends before
   *  may not have sent them. In a function, prefer `step.sendEvent`.
   *  @throws SendError when the service refuses them, cannot be reached, or it takes too long; InvalidEventError when
   *  one is not as its schema wants it; ConfigError */
  async send(events: OneOrMany<EventToSend<Events>>, options: SendOptions = {}): Promise<SendResult> {
    const batch = [events].flat() as { name: string; data: unknown }[];
    if (batch.length === 0) return { ids: [] };
    const valid = this.#schemas ? await validateEvents(batch, this.#schemas) : batch;
    return sendEvents(valid, this.settings(), options);
  }

  /** The same as `send`, of an array. */
  sendMany(events: readonly EventToSend<Events>[], options: SendOptions = {}): Promise<SendResult> {
    return this.send(events, options);
  }

  /** Defines a function. It runs once it is handed to `serve` and the app has registered.
   *  @throws TypeError when the configuration makes no sense */
  createFunction<const Triggers extends OneOrMany<Trigger<Events>>, Output>(
    config: FunctionConfig<Triggers, Events>,
    handler: Handler<Events, Triggers, Output>,
    ...more: []
  ): TidegateFunction<Awaited<Output>, EventOf<Events, One<Triggers>>['data']> {
    refuseMoreArguments(more);
    const fn = defineFunction(this.id, config as unknown as AnyFunctionConfig, handler as AnyHandler);
    return fn as TidegateFunction<Awaited<Output>>;
  }

  /** The settings as they are now. */
  settings(): Settings {
    return readSettings(this.#options);
  }
}

/** An app's client: made once, used everywhere. */
export type Tidegate<Events = LooseEvents> = Client<Events>;

interface TidegateConstructor {
  /** With schemas (zod, valibot, …) that declare the app's events by their data, and check what is sent:
   *  `new Tidegate({ id: 'shop', schemas: { 'order/paid': z.object({ total: z.number() }) } })`. */
  new <Schemas extends EventSchemas>(options: ClientOptions & { schemas: Schemas }): Tidegate<EventsOf<Schemas>>;

  /** With a type argument that declares the app's events:
   *  `new Tidegate<{ 'order/paid': { data: { total: number } } }>({ id: 'shop' })`; or with none, for any events. */
  new <Events extends EventTypes<Events> = LooseEvents>(options: ClientOptions): Tidegate<Events>;
}

export const Tidegate: TidegateConstructor = Client;
