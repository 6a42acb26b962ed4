/** Send events to Tidegate, and define the functions that run on them. To host them, see `tidegate/node`,
 *  `tidegate/koa` and so on; to test them, `tidegate/test`. */
export type { Checkpoint, CheckpointOptions } from './checkpoint.ts';
export { Tidegate } from './client.ts';
export {
  ConfigError,
  type ErrorDetails,
  InvalidEventError,
  NonRetriableError,
  RetryAfterError,
  type SchemaIssue,
  SendError,
  StepError,
  WebhookVerificationError,
} from './errors.ts';
export type { EventSchemas, EventsOf } from './event-schemas.ts';
export type { EventToSend, EventTypes, IncomingEvent, LooseEvents, OutgoingEvent } from './events.ts';
export type { BatchEvents, CancelOn, Concurrency, ConcurrencyOfRunsAndSteps, FlowControl } from './flow.ts';
export type {
  CronTrigger,
  EventTrigger,
  FailureContext,
  FailureEvent,
  FunctionConfig,
  FunctionContext,
  TidegateFunction,
  Trigger,
} from './function-types.ts';
export type { Jsonified } from './json.ts';
export type { Logger } from './logger.ts';
export { type EncryptionOptions, encryption } from './middleware/encryption.ts';
export { inject } from './middleware/inject.ts';
export type {
  AnyMiddleware,
  Middleware,
  MiddlewareRun,
  MiddlewareSend,
  MiddlewareStep,
  Place,
  ValueKind,
} from './middleware/types.ts';
export type { MessageToPublish } from './publish.ts';
export type { SubscriptionToken } from './realtime.ts';
export { type ReferenceOptions, referenceFunction } from './reference.ts';
export type { SendOptions, SendResult } from './send.ts';
export type { ClientOptions } from './settings.ts';
export type { StandardSchema } from './standard-schema.ts';
export type { Duration } from './steps/duration.ts';
export { currentStep, type RunningStep } from './steps/running-step.ts';
export type {
  FetchOptions,
  FetchResponse,
  InferFormat,
  InferOptions,
  InvokeOptions,
  Signal,
  StepTools,
  WaitForSignalOptions,
  WaitOptions,
} from './steps/types.ts';
export {
  type HmacOptions,
  type SignedWebhook,
  type StandardWebhook,
  type ToleranceOptions,
  verifyWebhook,
} from './webhooks.ts';
