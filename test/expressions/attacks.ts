/** Loads the attacks and expands their shorthands. */
import { readdirSync, readFileSync } from 'node:fs';

export type Outcome = 'refused' | 'met' | 'not_met' | 'too_costly';

export interface Attack {
  name: string;
  expression: string;
  /** The event's data. */
  data: unknown;
  must: Outcome;
  /** Part of the error message, if it is rejected. */
  reason: string;
}

const FOLDER = new URL('attacks/', import.meta.url);

interface Stored extends Omit<Attack, 'expression' | 'data' | 'reason'> {
  expression: string | Long;
  event?: object;
  reason?: string;
}

/** `{first, repeat, times, then}` expands to a long text, `{repeat, times}` in an event to a long text or list, `{keys}` to an object with
 *  that many keys, `{deep}` to that many nested lists. */
export function attacks(): Attack[] {
  return readdirSync(FOLDER).flatMap((file) => {
    const { attacks } = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
    return attacks.map(({ name, expression, event, must, reason }: Stored) => ({
      name,
      expression: textOf(expression),
      data: dataOf(event ?? {}),
      must,
      reason: reason ?? '',
    }));
  });
}

type Long = { first?: string; repeat: string; times: number; then?: string };

function textOf(expression: string | Long): string {
  if (typeof expression === 'string') return expression;
  const { first = '', repeat, times, then = '' } = expression;
  return first + repeat.repeat(times) + then;
}

function dataOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dataOf);
  if (typeof value !== 'object' || value === null) return value;
  const { repeat, times, keys, deep } = value as Record<string, unknown>;
  if (typeof times === 'number') {
    return typeof repeat === 'string' ? textOf({ repeat, times }) : Array(times).fill(repeat);
  }
  if (typeof keys === 'number') return Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i]));
  if (typeof deep === 'number') return JSON.parse('['.repeat(deep) + ']'.repeat(deep));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, dataOf(inner)]));
}
