/** Types of events: declared, sent and received. */

// biome-ignore lint/suspicious/noExplicitAny: data of undeclared events may be read and written freely
export type AnyData = Record<string, any>;

/** Shape of a declaration of events: `{ 'order/paid': { data: { total: number } } }`. */
export type EventTypes<Events> = { [Name in keyof Events]: { data: object } };

/** Default declaration: any name, any data. */
export type LooseEvents = Record<string, { data: AnyData }>;

export type EventName<Events> = keyof Events & string;

export type OneOrMany<T> = T | readonly T[];

export type Wildcard = `${string}/*` | `${string}.*`;

type DataOf<Events, Name> = Name extends keyof Events
  ? Events[Name] extends { data: infer Data }
    ? Data
    : never
  : AnyData;

/** Input and output of a schema can differ. */
type SentDataOf<Events, Name extends keyof Events> = Events[Name] extends { sent: infer Sent }
  ? Sent
  : DataOf<Events, Name>;

export interface OutgoingEvent<Name extends string = string, Data = AnyData> {
  name: Name;
  data: Data;
  /** A second event with this id, of any name, is ignored for 24 hours. */
  id?: string;
  /** Milliseconds since 1970. Default: the time of its receipt. */
  ts?: number;
  user?: AnyData;
  v?: string;
}

export interface IncomingEvent<Name extends string = string, Data = AnyData> extends OutgoingEvent<Name, Data> {
  id: string;
  ts: number;
  /** Whether the provider's signature of the request was verified, for a webhook with a provider. Only the service sets it. */
  verified?: boolean;
}

/** Any of the declared events, discriminated by name. */
export type EventToSend<Events> = {
  [Name in EventName<Events>]: OutgoingEvent<Name, SentDataOf<Events, Name>>;
}[EventName<Events>];

/** A declared event, as received. */
export type EventNamed<Events, Name extends string> = IncomingEvent<Name, DataOf<Events, Name>>;

/** The event type of a trigger: by its name; any event for a wildcard or a schedule. */
export type EventOf<Events, Trigger> = Trigger extends { event: infer Name extends string }
  ? Name extends Wildcard
    ? IncomingEvent
    : EventNamed<Events, Name>
  : IncomingEvent;

export interface SendResult {
  /** One ID per event, in order. */
  ids: string[];
}
