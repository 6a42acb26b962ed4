/** Validates input against a schema and says what was wrong with it. Unknown fields and parameters are errors: ignoring a misspelled filter
 *  would return everything. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { ENV_SELECTORS } from '../../functions/headers.ts';
import { PRINCIPAL_KINDS } from '../../model/auth/access.ts';
import { closestName } from '../../model/values/closest-name.ts';
import { expected } from '../../model/values/expected.ts';
import { describe } from '../../model/values/json.ts';
import { iso } from '../../model/values/time.ts';
import type { Query } from './urlencoded.ts';

/** The schema, rejecting unknown fields; nested objects are declared strict where they are. */
export function strict<S extends z.ZodType | undefined>(schema: S): S {
  return (schema instanceof z.ZodObject ? schema.strict() : schema) as S;
}

/** An object of the API. @param id its name in the OpenAPI document */
export function apiObject<Shape extends z.ZodRawShape>(id: string, shape: Shape): z.ZodObject<Shape> {
  return z.object(shape).meta({ id });
}

/** Fields of many objects, each one schema, because building schemas takes a quarter of the CPU time in which a web process starts. */
export const textOrNull = z.string().nullable();
export const wholeOrNull = z.int().nullable();
export const timeOrNull = z.iso.datetime().nullable();
export const principal = z.object({ kind: z.enum(PRINCIPAL_KINDS), id: z.string(), name: z.string() });

const DAY_SECONDS = 86_400;
/** For a rotation: how long the replaced key or secret stays valid. */
export const keepOldSeconds = wholeBetween(0, 30 * DAY_SECONDS).default(DAY_SECONDS);

/** A text that is not empty. */
export function textUpTo(maxLength: number) {
  return z.string().min(1).max(maxLength);
}

/** A list that is not empty. */
export function listUpTo<Item extends z.ZodType>(maxItems: number, item: Item) {
  return z.array(item).min(1).max(maxItems);
}

export function wholeBetween(min: number, max: number) {
  return z.int().min(min).max(max);
}

/** Whether the input may be missing altogether. */
export function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success;
}

/** @param what 'field', 'query parameter' or 'path parameter', for the message
 *  @throws ServiceError input_invalid, naming the field, the value and what is expected */
export function validate<S extends z.ZodType>(schema: S, input: unknown, what: string): z.output<S> {
  const { success, data, error } = schema.safeParse(input, { error: expected });
  if (success) return data;
  const unknown = error.issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown) {
    const name = unknown.keys[0] as string;
    const field = [...unknown.path, truncated(name)].join('.');
    throw new ServiceError('input_invalid', {
      detail: `${what} "${field}": ${describeUnknown(schema, unknown.path, name)}`,
      facts: { field },
    });
  }
  const { path, message } = error.issues[0] as z.core.$ZodIssue;
  const got = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], input);
  const name = path.length > 0 ? `${what} "${path.join('.')}"` : 'the body';
  throw new ServiceError('input_invalid', {
    detail: `${name}: got ${isSecret(path) ? describeSecret(got) : describe(got)}: ${message}`,
    facts: { field: path.join('.') },
  });
}

/** Responses end up in logs of clients and proxies, so secrets are not quoted. */
function isSecret(path: readonly PropertyKey[]): boolean {
  return path.some((key) => /^secrets?$|password$/.test(String(key)));
}

function describeSecret(value: unknown): string {
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  return typeof value === 'object' ? describe(value) : `a value of the type ${typeof value}`;
}

/** Removes the parameters that select the environment, which every route accepts. */
export function ownParameters(query: Query): Query {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !ENV_SELECTORS.includes(name)));
}

/** @param path path of the object that has the field */
function describeUnknown(schema: z.ZodType, path: readonly PropertyKey[], name: string): string {
  const known = fieldsAt(schema, path);
  const suggestion = closestName(name, known);
  if (suggestion !== undefined) return `unknown; did you mean "${suggestion}"?`;
  return known.length === 0
    ? 'unknown; none is expected here'
    : `unknown; expected one of ${known.map((field) => `"${field}"`).join(', ')}`;
}

function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const { shape, innerType, in: input, options, element } = schema.def as unknown as Definition;
  const wrapped = [innerType, input, ...(options ?? [])].filter((schema) => schema !== undefined);
  if (wrapped.length > 0) return wrapped.flatMap((schema) => fieldsAt(schema, path));
  const [first, ...rest] = path;
  if (first === undefined) return Object.keys(shape ?? {});
  const next = shape ? shape[String(first)] : element;
  return next ? fieldsAt(next, rest) : [];
}

/** The parts of zod's own definitions that lead to the fields; each kind of schema has some of them. */
interface Definition {
  shape?: Record<string, z.ZodType>;
  innerType?: z.ZodType;
  in?: z.ZodType;
  options?: z.ZodType[];
  element?: z.ZodType;
}

/** The sender chose this name: it may be of any length. */
function truncated(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name;
}

/** The largest time of an ID, in the year 10889. Times are Unix milliseconds in the code and ISO 8601 in the API. */
const TIME_MAX = 2 ** 48 - 1;

/** A time as a query parameter. */
export const timeSchema = z
  .union(
    [z.iso.datetime({ offset: true }), z.string().regex(/^\d{1,15}$/)],
    'expected an ISO 8601 time or Unix milliseconds',
  )
  .transform((text) => Math.min(Math.max(0, /^\d+$/.test(text) ? Number(text) : Date.parse(text)), TIME_MAX));

/** A time in a body, in Unix milliseconds. Time ranges are bounded by IDs, which have no times before 1970. */
export const timestampSchema = z.iso.datetime({ offset: true }).transform((text) => Math.max(0, Date.parse(text)));

/** ISO 8601; null for undefined. */
export function time(ms: number | undefined): string | null {
  return ms === undefined ? null : iso(ms);
}
