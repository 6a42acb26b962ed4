/** Values that match a JSON schema of the OpenAPI document, with occasional mismatches. */
import fc from 'fast-check';
import { address, number, objectOf, value, word } from './hostile.ts';
import { search } from './searches.ts';

// biome-ignore lint/suspicious/noExplicitAny: a JSON schema, looked at keyword by keyword
export type Schema = Record<string, any> | boolean;

export interface SchemaOptions {
  /** Schemas for `$ref`, by name. */
  schemas: Record<string, Schema>;
  /** How many of a thousand values do not match their schema. */
  wrongPerMille: number;
}

const MAX_LEVELS = 6;

export function fitting(schema: Schema, options: SchemaOptions, level = 0): fc.Arbitrary<unknown> {
  const right = level > MAX_LEVELS ? fc.constant(null) : ofSchema(schema, options, level);
  const { wrongPerMille } = options;
  if (wrongPerMille === 0) return right;
  return fc.oneof({ weight: 1_000 - wrongPerMille, arbitrary: right }, { weight: wrongPerMille, arbitrary: value });
}

function ofSchema(schema: Schema, options: SchemaOptions, level: number): fc.Arbitrary<unknown> {
  if (typeof schema === 'boolean') return value;
  const inner = (one: Schema) => fitting(one, options, level + 1);
  if (schema.$ref) return inner(options.schemas[schema.$ref.split('/').at(-1)] ?? true);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices: Schema[] | undefined = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map(inner));
  if (schema.allOf) return fc.tuple(...schema.allOf.map(inner)).map((parts) => Object.assign({}, ...parts));
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type: string) => inner({ ...schema, type })));
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const minLength = Math.min(schema.minItems ?? 0, 4);
      return fc.array(inner(schema.items ?? true), { minLength, maxLength: Math.max(minLength, 3) });
    }
    case 'object':
      return object(schema, inner);
    default:
      return value;
  }
}

function text(schema: Exclude<Schema, boolean>): fc.Arbitrary<string> {
  if (schema.format === 'uri') return address;
  if (schema.format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (schema.format === 'email') return fc.oneof(fc.emailAddress(), fc.constant('fuzz@example.com'));
  const examples: string[] = [schema.example, ...(schema.examples ?? [])].filter((one) => typeof one === 'string');
  const plain = fc.oneof(word, fc.constantFrom('fuzz/seen', 'order/paid', 'fuzz-branch', '{{webhook}}', ...examples));
  const sized = plain.map((one) => one.slice(0, schema.maxLength ?? one.length).padEnd(schema.minLength ?? 0, 'x'));
  const matching = schema.pattern ? matchingPattern(schema.pattern) : undefined;
  return matching ? fc.oneof(matching, sized) : sized;
}

/** @returns undefined when fast-check does not support the pattern */
function matchingPattern(pattern: string): fc.Arbitrary<string> | undefined {
  try {
    return fc.stringMatching(new RegExp(pattern), { maxLength: 80 });
  } catch {
    return undefined;
  }
}

function numberOf({ type, minimum, maximum }: Exclude<Schema, boolean>): fc.Arbitrary<number> {
  const min = Math.max(minimum ?? -(2 ** 31), Number.MIN_SAFE_INTEGER);
  const max = Math.min(maximum ?? 2 ** 31, Number.MAX_SAFE_INTEGER);
  if (min > max) return number;
  const edges = fc.constantFrom(min, max, min - 1, max + 1);
  return type === 'integer'
    ? fc.oneof(fc.integer({ min, max }), edges)
    : fc.oneof(fc.double({ min, max, noNaN: true }), edges);
}

function object(
  schema: Exclude<Schema, boolean>,
  inner: (one: Schema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const required = new Set<string>(schema.required ?? []);
  const entries = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(([name, one]) => {
    const entry = (name === 'search' ? search : inner(one)).map((made): [string, unknown][] => [[name, made]]);
    return required.has(name) ? entry : fc.oneof(entry, fc.constant([]));
  });
  const known = fc.tuple(...entries).map((all) => all.flat());
  const more = schema.additionalProperties
    ? fc.array(fc.tuple(word, inner(schema.additionalProperties)), { maxLength: 3 })
    : fc.constant<[string, unknown][]>([]);
  return fc.tuple(known, more).map(([some, others]) => objectOf([...some, ...others]));
}
