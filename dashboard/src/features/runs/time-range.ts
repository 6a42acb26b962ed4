/** Time spans of a list's address: `from=24h` is counted back from now; `from` and `to` may be moments too (ISO 8601). */

const HOUR_MS = 3_600_000;
const RANGE_MS: Record<string, number> = {
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
};

/** A moment of the address as the API takes it; undefined: it says none. */
export function parseTime(text: string | undefined, nowMs: number): string | undefined {
  if (text === undefined) return undefined;
  const backMs = RANGE_MS[text];
  const ms = backMs === undefined ? parsedMs(text) : nowMs - backMs;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

export const TIME_RANGES: readonly (readonly [id: string, label: string])[] = [
  ['any', 'Any time'],
  ['1h', 'Last hour'],
  ['6h', 'Last 6 hours'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['between', 'Between …'],
];

export function selectedRange(from: string | undefined, to: string | undefined): string {
  if (from === undefined && to === undefined) return 'any';
  return to === undefined && from !== undefined && from in RANGE_MS ? from : 'between';
}

/** What choosing a span writes into the address. */
export function searchParamsOf(span: string, nowMs: number): { from: string | undefined; to: string | undefined } {
  if (span === 'any') return { from: undefined, to: undefined };
  return { from: span === 'between' ? new Date(nowMs - HOUR_MS).toISOString() : span, to: undefined };
}

/** For a field of the browser's own, in the reader's zone. */
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
