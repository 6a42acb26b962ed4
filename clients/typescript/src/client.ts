import type { EventToSend, EventTypes, LooseEvents } from './events.ts';
import {
  defineFunction,
  type FunctionConfig,
  type Handler,
  type OneOrMany,
  type TidegateFunction,
  type Trigger,
} from './functions.ts';
import { type SendResult, sendEvents } from './send.ts';
import { type ClientOptions, readSettings, type Settings } from './settings.ts';

/** An app's client: made once, used everywhere. Its type argument declares the app's events:
 *  `new Tidegate<{ 'order/paid': { data: { total: number } } }>({ id: 'shop' })`. */
export class Tidegate<Events extends EventTypes<Events> = LooseEvents> {
  readonly id: string;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    if (!options.id) throw new TypeError('A client needs an id: the name of its app');
    this.id = options.id;
    this.#options = { ...options };
  }

  /** Sends one event or several. Await it: a process that ends before may not have sent them.
   *  @throws SendError when the service refuses them or cannot be reached; ConfigError */
  async send(events: OneOrMany<EventToSend<Events>>): Promise<SendResult> {
    const batch = [events].flat();
    if (batch.length === 0) return { ids: [] };
    return sendEvents(batch, this.settings());
  }

  /** Defines a function. It runs once it is handed to `serve` and the app has registered.
   *  @throws TypeError when the configuration makes no sense */
  createFunction<const Triggers extends OneOrMany<Trigger<Events>>>(
    config: FunctionConfig<Triggers>,
    handler: Handler<Events, Triggers>,
  ): TidegateFunction {
    return defineFunction(config as FunctionConfig<OneOrMany<Trigger>>, handler);
  }

  /** The settings as they are now. */
  settings(): Settings {
    return readSettings(this.#options);
  }
}
