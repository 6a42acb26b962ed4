/** Field types of flow control. Each error names the allowed values. */
import { z } from 'zod';
import { DAY_MS, durationMs, HOUR_MS } from '../values/time.ts';

export interface Range {
  from: number;
  /** Absent: the largest exact integer. */
  to?: number;
  /** The setting that raises the maximum. */
  setting?: string;
}

const number = new Intl.NumberFormat('en').format;

export function integer({ from, to = Number.MAX_SAFE_INTEGER, setting }: Range) {
  const end = to === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : number(to);
  const allowed = `an integer from ${number(from)} to ${end}${settingHint(setting)}`;
  return z.number(allowed).refine((given) => Number.isSafeInteger(given) && given >= from && given <= to, allowed);
}

/** A time string within a range. */
export function period({ from, to = Number.MAX_SAFE_INTEGER, setting }: Range) {
  const allowed = `a time string from ${timeText(from)} to ${timeText(to)}${settingHint(setting)}, such as "30s"`;
  return z
    .string(allowed)
    .transform((text) => durationMs(text) ?? Number.NaN)
    .refine((ms) => ms >= from && ms <= to, allowed);
}

/** Converts to lower case: the official Go SDK capitalizes names. */
export function oneOf<const Name extends string>(names: readonly Name[]) {
  const allowed = names.map((name) => `"${name}"`).join(' or ');
  return z
    .string(allowed)
    .transform((text) => text.toLowerCase())
    .pipe(z.enum(names, allowed));
}

export const expression = z.string('a CEL expression over `event`, as a string');

function settingHint(setting: string | undefined): string {
  return setting ? ` (${setting})` : '';
}

const UNITS: readonly [name: string, ms: number][] = [
  ['d', DAY_MS],
  ['h', HOUR_MS],
  ['m', 60_000],
  ['s', 1_000],
];

/** Uses the largest unit that divides the duration; a day is written as 24 h and a minute as 60 s. */
function timeText(ms: number): string {
  const [name, unit] =
    UNITS.find(([, unit]) => ms > unit && ms % unit === 0) ?? (ms < 1_000 ? ['ms', 1] : ['s', 1_000]);
  return `${ms / unit}${name}`;
}
