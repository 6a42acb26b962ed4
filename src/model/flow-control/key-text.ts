/** Converts values of keys to text. null and values that cannot be evaluated become the empty text, and share one limit. */
import { hash } from 'node:crypto';
import { isLong } from '../expressions/long-integers.ts';
import { rawJson } from '../values/json.ts';

/** Longer values are truncated and distinguished by a hash. */
const LENGTH_MAX = 256;
const SHOWN_LENGTH = 200;

export function keyTextOf(value: unknown): string {
  const text = textOf(value).toWellFormed();
  if (text.length <= LENGTH_MAX) return text;
  return `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…${hash('sha1', text)}`;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object') {
    return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? integerOf(part) : part)) ?? '';
  }
  return String(value);
}

/** Integers of an expression have always been texts in keys; those of an event are numbers. */
function integerOf(integer: bigint): unknown {
  return isLong(integer) ? rawJson(String(integer)) : String(integer);
}
