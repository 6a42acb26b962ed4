/** Durations in milliseconds, times as text, and time strings of the protocol: `300ms`, `2h45m`, `1d`, `1w`; the official Go SDK sends `4m59s999ms987us6ns`. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;

/** Unix milliseconds: from inclusive, to exclusive. */
export interface Interval {
  from: number;
  to: number;
}

/** The start of the interval that a time is in, such as its minute or its day in UTC. */
export function floorTo(timeMs: number, intervalMs: number): number {
  return Math.floor(timeMs / intervalMs) * intervalMs;
}

/** @param timeMs Unix milliseconds
 *  @returns ISO 8601 in UTC */
export function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

const UNIT_MS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: WEEK_MS,
};

/** Longest sleep, and longest timeout of a wait or an invocation: five years. Longer durations are mistakes or abuse, and BullMQ orders delayed
 *  jobs exactly only until 2039. */
export const MAX_WAIT_MS = 1_827 * DAY_MS;
/** Longest time string; also bounds the input of the patterns below. */
export const MAX_TIME_LENGTH = 100;

const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h|d|w)\s*)+$/;
const PART = /(\d+(?:\.\d+)?)(ns|us|ms|s|m|h|d|w)/g;

/** Milliseconds; undefined if the text is not a time string. */
export function durationMs(text: string): number | undefined {
  if (text.length > MAX_TIME_LENGTH || !DURATION.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(PART)) sum += Number(amount) * (UNIT_MS[unit as string] as number);
  return Math.min(Math.round(sum), Number.MAX_SAFE_INTEGER);
}

/** The time of a time string (relative to now) or an ISO date, in Unix milliseconds; undefined if it is neither.
 *  Time strings may be negative: the official Go SDK sends them for a sleep until a time in the past. A time before 1970 counts as 1970. */
export function momentMs(text: string, nowMs: number): number | undefined {
  if (text.length > MAX_TIME_LENGTH) return undefined;
  const trimmed = text.trim();
  const duration = durationMs(trimmed.replace(/^-/, ''));
  if (duration !== undefined) return trimmed.startsWith('-') ? Math.max(0, nowMs - duration) : nowMs + duration;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date);
}

/** A duration for people, in the largest unit of which it has at least two: `90 s`, `45 min`, `3 days`. */
export function shownSpan(ms: number): string {
  const units = [
    [DAY_MS, 'days'],
    [HOUR_MS, 'h'],
    [MINUTE_MS, 'min'],
  ] as const;
  const [length, unit] = units.find(([unitMs]) => ms >= 2 * unitMs) ?? [SECOND_MS, 's'];
  return `${Math.round(ms / length).toLocaleString('en')} ${unit}`;
}
