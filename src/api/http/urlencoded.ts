/** Query strings and forms (`application/x-www-form-urlencoded`), read in one pass whatever they hold. Koa's own reader of a query looks
 *  through all parameters once for each of them. */
import type { default as Koa, Middleware } from 'koa';
import { ServiceError } from '../../errors.ts';

/** Of one query string or form: as many as Express and PHP take. */
export const MAX_FIELDS = 1_000;

/** Every value a list, in order of appearance. */
export type Lists = Record<string, string[]>;

/** A parameter that is given once is a string. */
export type Query = Record<string, string | string[] | undefined>;

/** @param text with or without a question mark
 *  @param whole what it is, for the message
 *  @throws ServiceError too_many_fields */
export function parseFields(text: string, whole: string): Lists {
  refuseMany(occurrencesOf('&', text, MAX_FIELDS) + 1, whole);
  return listed(new URLSearchParams(text));
}

/** Without a prototype: a field may have any name. */
export function listed(entries: Iterable<readonly [string, string]>): Lists {
  const lists: Lists = Object.create(null);
  for (const [key, value] of entries) {
    const list = lists[key];
    if (list) list.push(value);
    else lists[key] = [value];
  }
  return lists;
}

/** @throws ServiceError too_many_fields */
export function refuseMany(count: number, whole: string): void {
  if (count <= MAX_FIELDS) return;
  throw new ServiceError('too_many_fields', {
    detail: `${whole} has more than ${MAX_FIELDS}; send fewer`,
    facts: { limit: MAX_FIELDS },
  });
}

/** No more than one past the limit is looked for. */
export function occurrencesOf(part: string, text: string, limit: number): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1 && count <= limit; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

/** Has everything that reads `ctx.query`, libraries too, read what is parsed here, once a request. */
export function readQueriesOnce(app: Koa): void {
  const parsed = new WeakMap<object, Query>();
  Object.defineProperty(app.request, 'query', {
    configurable: true,
    get(this: Koa.Request): Query {
      const known = parsed.get(this);
      if (known) return known;
      const query = toQuery(parseFields(this.querystring, 'the query string'));
      parsed.set(this, query);
      return query;
    },
  });
}

/** Before all that reads a query: one with too many parameters gets no further. */
export const refuseLongQueries: Middleware = async (ctx, next) => {
  void ctx.query;
  await next();
};

function toQuery(lists: Lists): Query {
  const query: Query = Object.create(null);
  for (const name in lists) query[name] = lists[name]?.length === 1 ? lists[name][0] : lists[name];
  return query;
}
