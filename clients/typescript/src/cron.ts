/** Whether a text is a valid schedule: five crontab fields, six with seconds first, or a name such as `@daily`; optionally after
 *  `TZ=<time zone>`. */
const NAMES = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const TIME_ZONE = /^(?:CRON_)?TZ=\S+\s+/;
const ITEM = /^(?:[*?]|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  from: number;
  to: number;
  names?: readonly string[];
}

const SECOND: Field = { from: 0, to: 59 };
const FIELDS: readonly Field[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  { from: 1, to: 12, names: MONTHS },
  { from: 0, to: 7, names: DAYS },
];

export function isCron(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const schedule = text.trim().replace(TIME_ZONE, '');
  if (NAMES.test(schedule)) return true;
  const given = schedule.split(/\s+/);
  const fields = given.length === 6 ? [SECOND, ...FIELDS] : FIELDS;
  if (given.length !== fields.length) return false;
  return fields.every((field, i) => (given[i] as string).split(',').every((item) => fits(item, field)));
}

function fits(item: string, field: Field): boolean {
  const parts = ITEM.exec(item);
  if (!parts || Number(parts[3] ?? 1) < 1) return false;
  const [from, to] = [numberOf(parts[1], field), numberOf(parts[2] ?? parts[1], field)];
  if (parts[1] === undefined) return true;
  return from >= field.from && from <= to && to <= field.to;
}

/** NaN, which is in no range, if the text is not a number. */
function numberOf(text = '', { from, names }: Field): number {
  if (/^\d+$/.test(text)) return Number(text);
  const at = names?.indexOf(text.toLowerCase()) ?? -1;
  return at < 0 ? Number.NaN : at + from;
}
