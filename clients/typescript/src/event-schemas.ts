/** Events declared by schemas for their data: `{ 'order/paid': z.object({ total: z.number() }) }`. */
import { InvalidEventError, type SchemaIssue } from './errors.ts';
import type { Jsonified } from './json.ts';
import type { InputOf, OutputOf, SchemaFault, StandardSchema } from './standard-schema.ts';

// biome-ignore lint/suspicious/noExplicitAny: schemas of any data
export type EventSchemas = Record<string, StandardSchema<any, object>>;

/** The events that schemas declare: sent with the input type of the schema, received with its output type. */
export type EventsOf<Schemas extends EventSchemas> = {
  [Name in keyof Schemas & string]: { data: Jsonified<OutputOf<Schemas[Name]>>; sent: InputOf<Schemas[Name]> };
};

type Event = { name: string; data: unknown };

/** Events with the output of their schemas as data, for example with defaults.
 *  @throws InvalidEventError for the first invalid event */
export function validateEvents<E extends Event>(events: readonly E[], schemas: EventSchemas): Promise<E[]> {
  return Promise.all(events.map((event, index) => validate(event, index, schemas)));
}

async function validate<E extends Event>(event: E, index: number, schemas: EventSchemas): Promise<E> {
  const schema = Object.hasOwn(schemas, event.name) ? schemas[event.name] : undefined;
  if (!schema) {
    throw new InvalidEventError(
      `Event ${index}: there is no schema for "${event.name}"; the client has ${Object.keys(schemas).join(', ')}`,
      event.name,
    );
  }
  const result = await schema['~standard'].validate(event.data);
  if (!result.issues) return { ...event, data: result.value };
  const issues = result.issues.map(readFault);
  throw new InvalidEventError(
    `Event ${index} ("${event.name}") is not as its schema wants it: ${issues.map(say).join('; ')}`,
    event.name,
    issues,
  );
}

function readFault({ message, path = [] }: SchemaFault): SchemaIssue {
  return { message, path: path.map((part) => (typeof part === 'object' ? part.key : part)) };
}

function say({ message, path }: SchemaIssue): string {
  return `${['data', ...path].map(String).join('.')}: ${message}`;
}
