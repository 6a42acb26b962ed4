/** Kinds of fields of flow control. Each error tells what is allowed. */
import { z } from 'zod';
import { durationMs } from '../values/duration.ts';

export interface Range {
  from: number;
  /** Absent: as far as integers are exact. */
  to?: number;
  /** What raises the upper end. */
  setting?: string;
}

const number = new Intl.NumberFormat('en').format;

export function integer({ from, to = Number.MAX_SAFE_INTEGER, setting }: Range) {
  const end = to === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : number(to);
  const allowed = `an integer from ${number(from)} to ${end}${ofSetting(setting)}`;
  return z.number(allowed).refine((given) => Number.isSafeInteger(given) && given >= from && given <= to, allowed);
}

/** A time string within a range of milliseconds. */
export function period({ from, to = Number.MAX_SAFE_INTEGER, setting }: Range) {
  const allowed = `a time string from ${timeText(from)} to ${timeText(to)}${ofSetting(setting)}, such as "30s"`;
  return z
    .string(allowed)
    .transform((text) => durationMs(text) ?? Number.NaN)
    .refine((ms) => ms >= from && ms <= to, allowed);
}

/** In lower case: the official Go SDK writes capitals. */
export function oneOf<const Name extends string>(names: readonly Name[]) {
  const allowed = names.map((name) => `"${name}"`).join(' or ');
  return z
    .string(allowed)
    .transform((text) => text.toLowerCase())
    .pipe(z.enum(names, allowed));
}

export const expression = z.string('a CEL expression over `event`, as a string');

function ofSetting(setting: string | undefined): string {
  return setting ? ` (${setting})` : '';
}

const UNITS: readonly [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** In the largest unit that leaves no rest, but a day is 24 h and a minute is 60 s. */
function timeText(ms: number): string {
  const [name, unit] =
    UNITS.find(([, unit]) => ms > unit && ms % unit === 0) ?? (ms < 1_000 ? ['ms', 1] : ['s', 1_000]);
  return `${ms / unit}${name}`;
}
