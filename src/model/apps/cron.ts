/** Validates schedules: five crontab fields, six with seconds first, a name such as `@daily`, or `@every 1h`; a time zone may come first
 *  (`TZ=<time zone>`). The clients run the same check (clients/conformance/definitions.json). */
import { nextTick } from '../schedules/ticks.ts';
import { durationMs } from '../values/time.ts';

const NAMES = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const INTERVAL = /^@every (\S+)$/;
const TIME_ZONE = /^(?:CRON_)?TZ=(\S+)\s+/;
const ITEM = /^(?:[*?]|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Each field is valid, but the date does not exist or a field repeats a value. */
const NEVER = 'it never ticks; use dates that exist, and each value once';

interface Field {
  label: string;
  from: number;
  to: number;
  names?: readonly string[];
}

const SECOND: Field = { label: 'second', from: 0, to: 59 };
const FIELDS: readonly Field[] = [
  { label: 'minute', from: 0, to: 59 },
  { label: 'hour', from: 0, to: 23 },
  { label: 'day of the month', from: 1, to: 31 },
  { label: 'month', from: 1, to: 12, names: MONTHS },
  { label: 'day of the week', from: 0, to: 7, names: DAYS },
];

/** Returns what is wrong with a schedule; undefined if it is valid. */
export function cronProblem(text: string): string | undefined {
  const trimmed = text.trim();
  const zone = TIME_ZONE.exec(trimmed)?.[1];
  if (zone !== undefined && !isTimeZone(zone)) return `"${zone}" is not a time zone; use a name such as Europe/Berlin`;
  const schedule = trimmed.replace(TIME_ZONE, '');
  if (NAMES.test(schedule) || isInterval(schedule)) return undefined;
  const given = schedule.split(/\s+/);
  const fields = given.length === 6 ? [SECOND, ...FIELDS] : FIELDS;
  if (given.length !== fields.length) return `it has ${given.length} fields; use five, as in "0 9 * * 1"`;
  const wrong = fields.findIndex((field, i) => !(given[i] as string).split(',').every((item) => fits(item, field)));
  if (wrong === -1) return nextTick(trimmed, Date.now()) === undefined ? NEVER : undefined;
  const { label, from, to } = fields[wrong] as Field;
  return `"${given[wrong]}" is not a ${label}, which is from ${from} to ${to}, a range, a list or *`;
}

function isInterval(schedule: string): boolean {
  const [, every] = INTERVAL.exec(schedule) ?? [];
  return every !== undefined && (durationMs(every) ?? 0) >= 1_000;
}

function fits(item: string, field: Field): boolean {
  const parts = ITEM.exec(item);
  if (!parts || Number(parts[3] ?? 1) < 1) return false;
  if (parts[1] === undefined) return true;
  const [from, to] = [numberOf(parts[1], field), numberOf(parts[2] ?? parts[1], field)];
  return from >= field.from && from <= to && to <= field.to;
}

/** NaN is in no range, so text that is not a number fails the range check. */
function numberOf(text: string, { from, names }: Field): number {
  if (/^\d+$/.test(text)) return Number(text);
  const at = names?.indexOf(text.toLowerCase()) ?? -1;
  return at < 0 ? Number.NaN : at + from;
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
