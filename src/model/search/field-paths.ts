/** Field names of a JSON value in search syntax, for completion. */
import { isJsonObject } from '../values/json.ts';

export type FieldType = 'text' | 'number' | 'boolean' | 'null' | 'list' | 'object';

export interface Field {
  /** Path in search syntax: `data.customer.id`. */
  path: string;
  type: FieldType;
  /** May be truncated; undefined for a list or an object. */
  sample?: string | number | boolean | null;
}

const DEPTH_MAX = 6;
const SAMPLE_LENGTH = 100;
const KEYS_OF_ONE = 100;
const IDENTIFIER = /^[A-Za-z_]\w*$/;
/** CEL rejects these as field names after a dot. */
const RESERVED = new Set(['in', 'true', 'false', 'null', '__proto__']);

/** Adds the fields of a value, up to a maximum; the first value of a path wins.
 *  @param path path of the value */
export function addFields(fields: Map<string, Field>, path: string, value: unknown, max: number, depth = 0): void {
  if (fields.size >= max || depth > DEPTH_MAX) return;
  if (depth > 0 && !fields.has(path)) fields.set(path, fieldOf(path, value));
  if (Array.isArray(value)) {
    if (value.length > 0) addFields(fields, `${path}[0]`, value[0], max, depth + 1);
    return;
  }
  if (!isJsonObject(value)) return;
  let count = 0;
  for (const key in value) {
    if (++count > KEYS_OF_ONE) return;
    addFields(fields, `${path}${keyText(key)}`, value[key], max, depth + 1);
  }
}

function keyText(key: string): string {
  return IDENTIFIER.test(key) && !RESERVED.has(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function fieldOf(path: string, value: unknown): Field {
  if (typeof value === 'string') return { path, type: 'text', sample: value.slice(0, SAMPLE_LENGTH).toWellFormed() };
  if (typeof value === 'boolean') return { path, type: 'boolean', sample: value };
  if (value === null) return { path, type: 'null', sample: null };
  if (Array.isArray(value)) return { path, type: 'list' };
  if (isJsonObject(value)) return { path, type: 'object' };
  return { path, type: 'number', sample: Number(JSON.stringify(value)) };
}
