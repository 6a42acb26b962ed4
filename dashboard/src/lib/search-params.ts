/** What stands in a page's address after the question mark: every filter, so that a view can be sent to a colleague. */

type Parse<T> = (value: unknown) => T | undefined;

export const text: Parse<string> = (value) =>
  value === undefined || value === null || value === '' ? undefined : String(value);

export const integer: Parse<number> = (value) => {
  const number = Number(value);
  return value !== undefined && Number.isSafeInteger(number) ? number : undefined;
};

export const flag: Parse<true> = (value) => (value === true || value === 'true' ? true : undefined);

export function oneOf<const T extends string>(allowed: readonly T[]): Parse<T> {
  return (value) => allowed.find((one) => one === value);
}

type Shape = Record<string, Parse<unknown>>;
export type SearchOf<S extends Shape> = { [K in keyof S]?: Exclude<ReturnType<S[K]>, undefined> };

/** For `validateSearch` of a route: what makes no sense is dropped, what is not named too. */
export function searchSchema<S extends Shape>(shape: S): (given: Record<string, unknown>) => SearchOf<S> {
  return (given) => {
    const entries = Object.entries(shape).map(([name, read]) => [name, read(given[name])]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as SearchOf<S>;
  };
}
