/** The error map for all schemas of user input: it says what was expected instead of an invalid value. Texts of a
 *  schema itself take precedence. The texts follow "got …: ". */
import type { z } from 'zod';
import { closestName } from './closest-name.ts';

const LISTED_MAX = 30;

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  bigint: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  date: 'a time',
};

const FORMATS: Record<string, string> = {
  email: 'an email address',
  url: 'a URL, such as https://example.com/path',
  datetime: 'an ISO 8601 time with its zone, such as 2026-01-31T12:00:00Z',
  date: 'a date, such as 2026-01-31',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  cidrv4: 'a range of IPv4 addresses, such as 192.0.2.0/24',
  cidrv6: 'a range of IPv6 addresses, such as 2001:db8::/32',
  base64: 'text in base64',
  uuid: 'a UUID',
};

const UNITS: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
  set: ['entry', 'entries'],
  map: ['entry', 'entries'],
};

/** For `safeParse(input, { error: expected })`. */
export const expected: z.core.$ZodErrorMap = (issue) => {
  if (issue.input === undefined && issue.code === 'invalid_type')
    return `required; expected ${typeText(issue.expected)}`;
  return expectation(issue);
};

function expectation(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeText(issue.expected)}`;
    case 'invalid_value':
      return choice(issue.values, issue.input);
    case 'too_big':
      return `expected ${issue.inclusive === false ? 'less than' : bound('at most', issue.exact)} ${amount(issue.maximum, issue.origin)}`;
    case 'too_small':
      return `expected ${issue.inclusive === false ? 'more than' : bound('at least', issue.exact)} ${amount(issue.minimum, issue.origin)}`;
    case 'invalid_format':
      return `expected ${formatText(issue)}`;
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return unionText(issue);
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues[0]?.message ?? 'not valid';
    default:
      return 'not valid';
  }
}

function typeText(name: string): string {
  return TYPES[name] ?? name;
}

function bound(text: string, exact: boolean | undefined): string {
  return exact ? 'exactly' : text;
}

function amount(count: number | bigint, origin: string): string {
  const units = UNITS[origin];
  return units ? `${count} ${units[Number(count) === 1 ? 0 : 1]}` : String(count);
}

function choice(values: readonly z.core.util.Primitive[], given: unknown): string {
  const texts = values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)));
  const listed = texts.slice(0, LISTED_MAX);
  const more = texts.length - listed.length;
  const last = more > 0 ? `${more} others` : listed.pop();
  const known = listed.length > 0 ? `${listed.join(', ')} or ${last}` : last;
  const near =
    typeof given === 'string'
      ? closestName(
          given,
          values.filter((value) => typeof value === 'string'),
        )
      : undefined;
  return `expected ${known}${near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`}`;
}

function formatText(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string {
  const { format, pattern, prefix, suffix, includes } = issue as { [field: string]: unknown };
  if (format === 'regex') return `text that matches ${pattern}`;
  if (format === 'starts_with') return `text that begins with ${JSON.stringify(prefix)}`;
  if (format === 'ends_with') return `text that ends with ${JSON.stringify(suffix)}`;
  if (format === 'includes') return `text that has ${JSON.stringify(includes)}`;
  return FORMATS[String(format)] ?? `text in the format ${format}`;
}

/** Combines what each option of the union would have accepted. */
function unionText({ errors, options }: { [field: string]: unknown }): string {
  if (Array.isArray(options) && options.length > 0) return choice(options as string[], undefined);
  const found = (errors as z.core.$ZodIssue[][]).flatMap(([first]) =>
    first?.path.length === 0 ? [first.message] : [],
  );
  const wanted = [...new Set(found.map((text) => text.replace(/^(?:required; )?expected /, '')))];
  return wanted.length > 0 ? `expected ${wanted.join(', or ')}` : 'not valid';
}
