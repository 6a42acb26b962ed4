/** Validators for query parameters. Filters are in the URL, so that a view can be shared. */
import { parseTime } from './time-filter.ts';

type Parse<T> = (value: unknown) => T | undefined;

export const text: Parse<string> = (value) =>
  value === undefined || value === null || value === '' ? undefined : String(value);

/** A time in the form that `parseTime` reads. */
export const time: Parse<string> = (value) => {
  const given = text(value);
  return parseTime(given, Date.now()) === undefined ? undefined : given;
};

export const integer: Parse<number> = (value) => {
  const number = Number(value);
  return value !== undefined && value !== '' && Number.isSafeInteger(number) ? number : undefined;
};

export const flag: Parse<true> = (value) => (value === true || value === 'true' ? true : undefined);

export function oneOf<const T extends string>(allowed: readonly T[]): Parse<T> {
  return (value) => allowed.find((one) => one === value);
}

type Shape = Record<string, Parse<unknown>>;
export type SearchOf<S extends Shape> = { [K in keyof S]?: Exclude<ReturnType<S[K]>, undefined> };

/** For a route's `validateSearch`: drops unknown parameters and invalid values. An invalid one is there as undefined, since the router adds the
 *  result to what the URL has. */
export function searchSchema<S extends Shape>(shape: S): (params: Record<string, unknown>) => SearchOf<S> {
  return (params) => {
    const entries = Object.entries(shape).map(([name, read]) => [name, read(params[name])] as const);
    return Object.fromEntries(entries.filter(([name, value]) => value !== undefined || name in params)) as SearchOf<S>;
  };
}
