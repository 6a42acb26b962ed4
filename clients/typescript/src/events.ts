/** Types of events: as declared, as sent, and as a handler receives them. */

// biome-ignore lint/suspicious/noExplicitAny: data of undeclared events may be read and written freely
export type AnyData = Record<string, any>;

/** What a type of events must look like: `{ 'order/paid': { data: { total: number } } }`. */
export type EventTypes<Events> = { [Name in keyof Events]: { data: object } };

/** The events of a client without declared ones: any name, any data. */
export type LooseEvents = Record<string, { data: AnyData }>;

export type EventName<Events> = keyof Events & string;

export type OneOrMany<T> = T | readonly T[];

export type Wildcard = `${string}/*` | `${string}.*`;

type DataOf<Events, Name> = Name extends keyof Events
  ? Events[Name] extends { data: infer Data }
    ? Data
    : never
  : AnyData;

/** A schema may take other data than it makes of it. */
type SentDataOf<Events, Name extends keyof Events> = Events[Name] extends { sent: infer Sent }
  ? Sent
  : DataOf<Events, Name>;

export interface OutgoingEvent<Name extends string = string, Data = AnyData> {
  name: Name;
  data: Data;
  /** A second event with this id, of any name, is ignored for 24 hours. */
  id?: string;
  /** Milliseconds since 1970. Default: when the service receives it. */
  ts?: number;
  user?: AnyData;
  v?: string;
}

export interface IncomingEvent<Name extends string = string, Data = AnyData> extends OutgoingEvent<Name, Data> {
  id: string;
  ts: number;
}

/** Any of the declared events, discriminated by name. */
export type EventToSend<Events> = {
  [Name in EventName<Events>]: OutgoingEvent<Name, SentDataOf<Events, Name>>;
}[EventName<Events>];

/** A declared event, as it arrives. */
export type EventNamed<Events, Name extends string> = IncomingEvent<Name, DataOf<Events, Name>>;

/** The event that a trigger brings: that of its name; any event for a wildcard or a schedule. */
export type EventOf<Events, Trigger> = Trigger extends { event: infer Name extends string }
  ? Name extends Wildcard
    ? IncomingEvent
    : EventNamed<Events, Name>
  : IncomingEvent;
