/** Fields and parameters that a route does not know. Ignoring one would do something else than was asked for: a filter that is misspelled
 *  lets everything through. */
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';

/** Longer names than any that is known, by so much that none is near. */
const MAX_COMPARED = 64;

/** The schema, refusing what it does not know; nested objects are declared strict where they are. */
export function strict<S extends z.ZodType | undefined>(schema: S): S {
  return (schema instanceof z.ZodObject ? schema.strict() : schema) as S;
}

/** @param path of the object in which the field is
 *  @returns "… is not known; did you mean "webhook"?", for after the field's name */
export function unknownField(schema: z.ZodType, path: readonly PropertyKey[], name: string): string {
  const known = fieldsAt(schema, path);
  const near = nearest(name, known);
  if (near !== undefined) return `it is not known; did you mean "${near}"?`;
  return known.length === 0
    ? 'it is not known; there are none here'
    : `it is not known; there are ${known.map((one) => `"${one}"`).join(', ')}`;
}

/** The name that was probably meant; undefined: none is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || name.length > MAX_COMPARED) return undefined;
  const plain = name.toLowerCase().replaceAll('-', '_');
  const near = closest(plain, [...known]);
  return distance(plain, near) <= Math.max(2, Math.floor(near.length / 3)) ? near : undefined;
}

function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const { shape, innerType, in: input, options, element } = schema.def as unknown as Definition;
  const within = [innerType, input, ...(options ?? [])].filter((one) => one !== undefined);
  if (within.length > 0) return within.flatMap((one) => fieldsAt(one, path));
  const [first, ...rest] = path;
  if (first === undefined) return Object.keys(shape ?? {});
  const next = shape ? shape[String(first)] : element;
  return next ? fieldsAt(next, rest) : [];
}

/** What zod's own definitions have, each kind some of it. */
interface Definition {
  shape?: Record<string, z.ZodType>;
  innerType?: z.ZodType;
  in?: z.ZodType;
  options?: z.ZodType[];
  element?: z.ZodType;
}
