/** Time ranges of lists in the URL (lib/time-filter.ts). */
import { parseTime as parseMs } from './time-filter.ts';
import { HOUR_MS, MINUTE_MS } from './time-units.ts';

/** @returns ISO 8601 for the API; undefined: no such bound */
export function parseTime(text: string | undefined, nowMs: number): string | undefined {
  const ms = parseMs(text, nowMs);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

export const TIME_RANGES: readonly (readonly [id: string, label: string])[] = [
  ['any', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['6h', 'Last 6 hours'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['between', 'Custom range'],
];

export function selectedRange(from: string | undefined, to: string | undefined): string {
  if (from === undefined && to === undefined) return 'any';
  return to === undefined && from !== undefined && TIME_RANGES.some(([id]) => id === from) ? from : 'between';
}

/** Query parameters for a selected range. */
export function searchParamsOf(range: string, nowMs: number): { from: string | undefined; to: string | undefined } {
  if (range === 'any') return { from: undefined, to: undefined };
  return { from: range === 'between' ? new Date(nowMs - HOUR_MS).toISOString() : range, to: undefined };
}

/** Value of a `datetime-local` input, in the browser's time zone. */
export function toLocalInput(text: string | undefined): string {
  const ms = parseMs(text, Date.now());
  if (ms === undefined) return '';
  return new Date(ms - new Date(ms).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19);
}

export function fromLocalInput(value: string): string | undefined {
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
