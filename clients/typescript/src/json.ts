// biome-ignore-all lint/suspicious/noConfusingVoidType: a step that returns nothing is void
// biome-ignore-all lint/suspicious/noExplicitAny: conditional types have no other way to ask about functions
/** What is left of a type when it has been JSON: a Date is a string, a method is gone. */
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

/** A value as it is once it has been JSON; nothing at all becomes null.
 *  @throws TypeError when it cannot be written as JSON */
export function asJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : JSON.parse(text);
}
