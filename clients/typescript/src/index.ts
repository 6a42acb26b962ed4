/** Send events to Tidegate, and define the functions that run on them. To host these: `tidegate/node`, `tidegate/koa`. */
export { Tidegate } from './client.ts';
export { ConfigError, NonRetriableError, RetryAfterError, SendError } from './errors.ts';
export type { EventToSend, EventTypes, IncomingEvent, LooseEvents, OutgoingEvent } from './events.ts';
export type {
  CronTrigger,
  EventTrigger,
  FunctionConfig,
  FunctionContext,
  TidegateFunction,
  Trigger,
} from './functions.ts';
export type { SendResult } from './send.ts';
export type { ClientOptions } from './settings.ts';
