/** Parses query strings and forms (`application/x-www-form-urlencoded`) in one pass, in linear time. */
import { ServiceError } from '../../errors.ts';

/** Maximum number of fields in a query string or form; the limit of Express and PHP. */
export const MAX_FIELDS = 1_000;

/** Every value is a list, in the order of the text. */
export type Lists = Record<string, string[]>;

/** A parameter that occurs once is a string. */
export type Query = Record<string, string | string[] | undefined>;

/** @param text with or without a question mark
 *  @param source what the text is, for the message
 *  @throws ServiceError too_many_fields */
export function parseFields(text: string, source: string): Lists {
  rejectMany(countOf('&', text, MAX_FIELDS) + 1, source);
  return listsOf(new URLSearchParams(text));
}

/** The object has no prototype, because a field may have any name. */
export function listsOf(entries: Iterable<readonly [string, string]>): Lists {
  const lists: Lists = Object.create(null);
  for (const [key, value] of entries) {
    const list = lists[key];
    if (list) list.push(value);
    else lists[key] = [value];
  }
  return lists;
}

/** @throws ServiceError too_many_fields */
export function rejectMany(count: number, source: string): void {
  if (count <= MAX_FIELDS) return;
  throw new ServiceError('too_many_fields', {
    detail: `${source} has more than ${MAX_FIELDS} fields; send fewer`,
    facts: { limit: MAX_FIELDS },
  });
}

/** Stops counting one above the limit. */
export function countOf(part: string, text: string, limit: number): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1 && count <= limit; at = text.indexOf(part, at + part.length)) count++;
  return count;
}
