/** Maximum lengths of a function's lists. Checked before parsing, so that oversized input costs nothing. */
import type { FunctionLimits } from '../../config.ts';
import { isJsonObject } from '../values/json.ts';

interface ListLimit {
  list: 'triggers' | 'cancel';
  limit: keyof FunctionLimits;
  setting: string;
}

const LISTS: readonly ListLimit[] = [
  { list: 'triggers', limit: 'triggers', setting: 'TRIGGERS_PER_FUNCTION_MAX' },
  { list: 'cancel', limit: 'cancelEvents', setting: 'CANCEL_EVENTS_PER_FUNCTION_MAX' },
];

const number = new Intl.NumberFormat('en').format;

/** Describes the first list that is too long; undefined if none is. */
export function excessOf(fn: unknown, limits: FunctionLimits): string | undefined {
  if (!isJsonObject(fn)) return undefined;
  for (const { list, limit, setting } of LISTS) {
    const entries = fn[list];
    if (!Array.isArray(entries) || entries.length <= limits[limit]) continue;
    const allowed = `at most ${number(limits[limit])} (${setting})`;
    return `field "${list}": got ${number(entries.length)} entries: ${allowed}. Use a wildcard, or several functions`;
  }
  return undefined;
}
