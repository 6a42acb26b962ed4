/** Converts values of keys to text. null and values that cannot be evaluated become the empty text, and share one limit. */
import { hash } from 'node:crypto';

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
    return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? '';
  }
  return String(value);
}
