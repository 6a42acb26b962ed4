/** Times of filters in the URL: relative to now (`15m`, `6h`, `7d`), ISO 8601, or Unix milliseconds. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from './time-units.ts';

const RELATIVE = /^(\d{1,4})([mhd])$/;
const UNIT_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;
/** The years 1970 to 9999: the API takes no others. */
const MAX_MS = Date.UTC(10_000, 0) - 1;

/** @returns Unix milliseconds; undefined: no bound, or not a time */
export function parseTime(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = RELATIVE.exec(text) ?? [];
  if (count) return nowMs - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
  return ms >= 0 && ms <= MAX_MS ? ms : undefined;
}
