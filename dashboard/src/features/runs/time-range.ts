/** Time ranges in the URL: `from=24h` is relative to now; `from` and `to` may also be ISO 8601 times. */

const HOUR_MS = 3_600_000;
const RANGE_MS: Record<string, number> = {
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
};

/** @returns ISO 8601 for the API; undefined: no such bound */
export function parseTime(text: string | undefined, nowMs: number): string | undefined {
  if (text === undefined) return undefined;
  const rangeMs = RANGE_MS[text];
  const ms = rangeMs === undefined ? parsedMs(text) : nowMs - rangeMs;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

export const TIME_RANGES: readonly (readonly [id: string, label: string])[] = [
  ['any', 'Any time'],
  ['1h', 'Last hour'],
  ['6h', 'Last 6 hours'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['between', 'Custom range'],
];

export function selectedRange(from: string | undefined, to: string | undefined): string {
  if (from === undefined && to === undefined) return 'any';
  return to === undefined && from !== undefined && from in RANGE_MS ? from : 'between';
}

/** Query parameters for a selected range. */
export function searchParamsOf(range: string, nowMs: number): { from: string | undefined; to: string | undefined } {
  if (range === 'any') return { from: undefined, to: undefined };
  return { from: range === 'between' ? new Date(nowMs - HOUR_MS).toISOString() : range, to: undefined };
}

/** Value of a `datetime-local` input, in the browser's time zone. */
export function toLocalInput(text: string | undefined): string {
  const ms = parsedMs(text ?? '');
  if (Number.isNaN(ms)) return '';
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function fromLocalInput(value: string): string | undefined {
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

function parsedMs(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
}
