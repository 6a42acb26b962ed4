/** Converts stored objects to their representation in the API. The schema of the API is the only list of the fields:
 *  `queued_at` is `queuedAt` in the code, times are Unix milliseconds there and ISO 8601 here, and a field that is
 *  not stored is null. */
import type { z } from 'zod';
import { time } from '../http/validation.ts';

/** @param stored has the fields of the schema by the names of the code
 *  @param own how to show fields that are not stored, or not under that name */
export function present<
  Shape extends z.ZodRawShape,
  Value extends object,
  Own extends Shown<Shape> = Record<never, never>,
>(
  schema: z.ZodObject<Shape>,
  stored: Value & StoredAs<Omit<Shape, keyof Own>> & NoFieldMissing<Omit<Shape, keyof Own>, Value>,
  own?: Own,
): z.output<z.ZodObject<Shape>> {
  return showObject(schema, stored as Record<string, unknown>, own) as z.output<z.ZodObject<Shape>>;
}

type Shown<Shape extends z.ZodRawShape> = { [Name in keyof Shape]?: z.output<Shape[Name]> };

type StoredName<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<StoredName<Rest>>}` : Name;

type Definition<Type extends string> = { _zod: { def: { type: Type } } };
type Wrapping<Type extends string, Inner> = { _zod: { def: { type: Type; innerType: Inner } } };

/** Type of the code's value for a field of the schema. */
type Stored<Schema> =
  Schema extends Wrapping<'nullable', infer Inner>
    ? Stored<Inner> | null | undefined
    : Schema extends Wrapping<'optional', infer Inner>
      ? Stored<Inner> | undefined
      : Schema extends { _zod: { def: { type: 'string'; format: 'datetime' } } }
        ? number
        : Schema extends { _zod: { def: { type: 'object'; shape: infer Shape } } }
          ? StoredAs<Shape>
          : Schema extends { _zod: { def: { type: 'array'; element: infer Element } } }
            ? readonly Stored<Element>[]
            : z.output<Schema>;

type MayLack<Schema> = Schema extends Definition<'nullable' | 'optional'> ? true : false;

type StoredAs<Shape> = {
  [Name in keyof Shape as MayLack<Shape[Name]> extends true ? never : StoredName<Name>]: Stored<Shape[Name]>;
} & {
  [Name in keyof Shape as MayLack<Shape[Name]> extends true ? StoredName<Name> : never]?: Stored<Shape[Name]>;
};

/** The type of the value must name optional fields too: a field that is missing there may have another name. */
type NoFieldMissing<Shape, Value> = [Exclude<StoredName<keyof Shape>, keyof Value>] extends [never]
  ? unknown
  : { missing: Exclude<StoredName<keyof Shape>, keyof Value> };

type Show = (stored: unknown) => unknown;

interface Field {
  name: string;
  storedName: string;
  show: Show;
}

const fieldsOfSchemas = new WeakMap<z.ZodObject, readonly Field[]>();

function showObject(schema: z.ZodObject, stored: Record<string, unknown>, own: Record<string, unknown> = {}): object {
  const shown: Record<string, unknown> = {};
  for (const { name, storedName, show } of fieldsOf(schema)) {
    const value = name in own ? own[name] : show(stored[storedName]);
    if (value !== undefined) shown[name] = value;
  }
  return shown;
}

function fieldsOf(schema: z.ZodObject): readonly Field[] {
  const known = fieldsOfSchemas.get(schema);
  if (known) return known;
  const fields = Object.entries(schema.shape).map(([name, field]) => ({
    name,
    storedName: name.replace(/_(.)/g, (_, first: string) => first.toUpperCase()),
    show: showOf(field as z.ZodType),
  }));
  fieldsOfSchemas.set(schema, fields);
  return fields;
}

function showOf(schema: z.ZodType): Show {
  const { type, innerType, element, format } = schema.def as unknown as Parts;
  if (type === 'string' && format === 'datetime') return (stored) => time(stored as number);
  if (type === 'object')
    return unlessAbsent((stored) => showObject(schema as z.ZodObject, stored as Record<string, unknown>));
  if (type === 'array') return unlessAbsent(showAll(showOf(element)));
  if (type === 'optional') return unlessAbsent(showOf(innerType));
  if (type !== 'nullable') return (stored) => stored;
  const show = unlessAbsent(showOf(innerType));
  return (stored) => show(stored) ?? null;
}

function showAll(show: Show): Show {
  return (stored) => (stored as readonly unknown[]).map(show);
}

/** Earlier versions of the service may not have stored the field. */
function unlessAbsent(show: Show): Show {
  return (stored) => (stored === undefined || stored === null ? stored : show(stored));
}

interface Parts {
  type: string;
  innerType: z.ZodType;
  element: z.ZodType;
  format?: string;
}
