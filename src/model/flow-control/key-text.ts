/** Values of keys as text. What cannot be evaluated, and null, is the empty text: such runs share a limit of their own. */
import { hash } from 'node:crypto';

/** A longer one is shortened, and told from others by its hash. */
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
