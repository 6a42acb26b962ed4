import { checkCheckpoint } from './checkpoint.ts';
import { type EventSchemas, type EventsOf, validateEvents } from './event-schemas.ts';
import type { EventOf, EventToSend, EventTypes, LooseEvents, OneOrMany, OutgoingEvent } from './events.ts';
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
import { aroundSend, checkMiddleware } from './middleware/chain.ts';
import type { AddedBy, AnyMiddleware } from './middleware/types.ts';
import { refuseUnknown } from './options.ts';
import { type MessageToPublish, publish, subscriptionToken } from './publish.ts';
import type { SubscriptionToken } from './realtime.ts';
import { type SendOptions, type SendResult, sendEvents } from './send.ts';
import { CLIENT_OPTIONS, type ClientOptions, readSettings, type Settings } from './settings.ts';
import { sendSignal } from './signals.ts';
import { checkVersioning } from './versioning.ts';

class Client<Events, Added extends object> {
  readonly id: string;
  readonly #options: ClientOptions;
  readonly #schemas: EventSchemas | undefined;
  readonly #middleware: readonly AnyMiddleware[];
  /** Only for types. */
  declare readonly $adds?: Added;

  constructor({ schemas, ...options }: ClientOptions & { schemas?: EventSchemas }) {
    refuseUnknown('A client', options, CLIENT_OPTIONS);
    if (!options.id) throw new TypeError('A client needs an id: the name of its app');
    this.id = options.id;
    this.#options = options;
    checkCheckpoint('A client', options.checkpoint);
    checkVersioning('A client', options.versioning);
    this.#schemas = schemas;
    this.#middleware = checkMiddleware('A client', options.middleware);
  }

  /** Sends one or more events, in several requests if their size requires it. Await it: a process that exits earlier may
   *  not have sent them. In a function, prefer `step.sendEvent`.
   *  @throws SendError if the service rejects them or cannot be reached, or after a timeout; InvalidEventError if an event
   *  does not match its schema; ConfigError */
  async send(events: OneOrMany<EventToSend<Events>>, options: SendOptions = {}): Promise<SendResult> {
    const batch = [events].flat() as { name: string; data: unknown }[];
    if (batch.length === 0) return { ids: [] };
    const valid = this.#schemas ? await validateEvents(batch, this.#schemas) : batch;
    const { within, post, ...sendOptions } = options;
    const send = { functionId: within?.id, runId: within?.runId, events: valid as OutgoingEvent[] };
    return aroundSend(within?.middleware ?? this.#middleware, send, (out) =>
      post ? post(out) : sendEvents(out, this.settings(), sendOptions),
    );
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

  /** Publishes a realtime message. In a function, prefer `step.publish`: the code between steps runs again.
   *  @throws SendError if the service refuses it or cannot be reached; ConfigError */
  async publish(message: MessageToPublish): Promise<void> {
    return publish(message, undefined, this.settings());
  }

  /** For a browser, or another program, that may read these topics of the channel: pass it to `subscribe` of `tidegate/realtime`.
   *  @throws SendError if the service refuses it or cannot be reached; ConfigError */
  async subscriptionToken({
    channel,
    topics,
  }: {
    channel: string;
    topics: readonly string[];
  }): Promise<SubscriptionToken> {
    return subscriptionToken(channel, topics, this.settings());
  }

  /** Defines a function. Pass it to `serve` and register the app to run it.
   *  @throws TypeError if the configuration is invalid */
  createFunction<
    const Triggers extends OneOrMany<Trigger<Events>>,
    Output,
    const Own extends MiddlewareList = MiddlewareList,
  >(
    config: FunctionConfig<Triggers, Events, Added & AddedBy<Own>> & {
      /** For this function alone, inside of the client's. */
      middleware?: Own;
    },
    handler: Handler<Events, Triggers, Output, Added & AddedBy<Own>>,
    ...more: []
  ): TidegateFunction<Awaited<Output>, EventOf<Events, One<Triggers>>['data']> {
    refuseMoreArguments(more);
    const app = { id: this.id, middleware: this.#middleware, versioning: this.#options.versioning };
    const fn = defineFunction(app, config as unknown as AnyFunctionConfig, handler as AnyHandler);
    return fn as TidegateFunction<Awaited<Output>>;
  }

  /** The current settings. */
  settings(): Settings {
    return readSettings(this.#options);
  }
}

/** The client of an app. Create one and share it. `Added`: what its middleware adds to the context of handlers. */
export type Tidegate<Events = LooseEvents, Added extends object = object> = Client<Events, Added>;

type MiddlewareList = readonly AnyMiddleware[];

interface TidegateConstructor {
  /** With schemas (zod, valibot, …) for the data of the app's events, which also validate sent events:
   *  `new Tidegate({ id: 'shop', schemas: { 'order/paid': z.object({ total: z.number() }) } })`. */
  new <Schemas extends EventSchemas, const Own extends MiddlewareList = MiddlewareList>(
    options: ClientOptions & { schemas: Schemas; middleware?: Own },
  ): Tidegate<EventsOf<Schemas>, AddedBy<Own>>;

  /** With middleware that adds values to the context of handlers: `new Tidegate({ id: 'shop', middleware: [inject({ db })] })`. */
  new <const Own extends MiddlewareList>(
    options: ClientOptions & { middleware: Own },
  ): Tidegate<LooseEvents, AddedBy<Own>>;

  /** With a type argument that declares the app's events:
   *  `new Tidegate<{ 'order/paid': { data: { total: number } } }>({ id: 'shop' })`; without one, it accepts any events.
   *  A second one declares what its middleware adds. */
  new <Events extends EventTypes<Events> = LooseEvents, Added extends object = object>(
    options: ClientOptions,
  ): Tidegate<Events, Added>;
}

export const Tidegate: TidegateConstructor = Client as TidegateConstructor;
