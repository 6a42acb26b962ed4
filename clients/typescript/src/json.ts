// biome-ignore-all lint/suspicious/noConfusingVoidType: a step that returns nothing is void
// biome-ignore-all lint/suspicious/noExplicitAny: conditional types need it to match functions
/** The type of a value after JSON serialization: a Date becomes a string, methods disappear. */
export type Jsonified<T> = 0 extends 1 & T
  ? T
  : unknown extends T
    ? unknown
    : T extends string | number | boolean | null
      ? T
      : T extends undefined | void | symbol | ((...args: any[]) => any)
        ? null
        : T extends bigint
          ? never
          : T extends { toJSON(): infer R }
            ? Jsonified<R>
            : T extends readonly unknown[]
              ? { [I in keyof T]: Jsonified<T[I]> }
              : T extends object
                ? JsonifiedObject<T>
                : never;

type Kept<T> = { [K in keyof T as K extends string | number ? (T[K] extends Dropped ? never : K) : never]: T[K] };

type Dropped = symbol | undefined | ((...args: any[]) => any);

type JsonifiedObject<T> = {
  [K in keyof Kept<T>]: undefined extends Kept<T>[K]
    ? Jsonified<Exclude<Kept<T>[K], undefined>> | undefined
    : Jsonified<Kept<T>[K]>;
};

/** The value after a JSON round trip; undefined becomes null.
 *  @throws TypeError if JSON cannot represent it */
export function asJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : JSON.parse(text);
}
