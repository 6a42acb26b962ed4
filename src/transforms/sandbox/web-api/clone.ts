import type { Kit } from './kit.ts';

/** Runs *inside* the isolate, as source text: `structuredClone`. */
export function cloneCode({ DOMException, bytesOf, typedArrayKind, define }: Kit): object[] {
  const { apply } = Reflect;
  const { toString: primitiveOfBoolean } = Boolean.prototype;
  const { isArray } = Array;
  const globals = globalThis as unknown as Record<string, new (data: unknown, ...more: unknown[]) => object>;
  const typedArrays = Object.fromEntries(
    Object.getOwnPropertyNames(globalThis)
      .filter((name) => name.endsWith('Array') && name !== 'Array')
      .map((name) => [name, globals[name]]),
  ) as typeof globals;
  const errors = ['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];
  const errorClasses = errors.map((name) => [name, globals[name]] as const);

  define('DOMException', DOMException);
  define(
    'structuredClone',
    {
      structuredClone(value: unknown, options?: { transfer?: unknown[] }) {
        if (options?.transfer !== undefined) throw dataError('transfer: not supported');
        return clone(value, new Map());
      },
    }.structuredClone,
  );
  return [];

  function clone(value: unknown, seen: Map<object, object>): unknown {
    if (typeof value === 'function' || typeof value === 'symbol') throw dataError(`a ${typeof value} cannot be cloned`);
    if (typeof value !== 'object' || value === null) return value;
    const known = seen.get(value);
    if (known) return known;
    const add = <T extends object>(copy: T): T => {
      seen.set(value, copy);
      return copy;
    };
    const bytes = bytesOf(value);
    if (bytes) return add(cloneBytes(value, bytes));
    if (isArray(value)) {
      const copy = add(new Array(value.length));
      return cloneFields(value, copy, seen);
    }
    const made = cloneBuiltIn(value, add, seen);
    return made ?? cloneFields(value, add({}), seen);
  }

  function cloneBytes(value: object, bytes: Uint8Array): object {
    const kind = typedArrayKind(value);
    const { buffer } = new Uint8Array(bytes);
    const Kind = kind === undefined ? undefined : typedArrays[kind];
    if (Kind) return new Kind(buffer);
    return value instanceof DataView ? new DataView(buffer) : buffer;
  }

  /** @returns undefined: a plain object */
  function cloneBuiltIn(value: object, add: <T extends object>(copy: T) => T, seen: Map<object, object>) {
    const time = attempt(() => apply(Date.prototype.getTime, value, []));
    if (time !== undefined) return add(new Date(time));
    if (attempt(() => apply(Map.prototype.has, value, [0])) !== undefined) {
      const copy = add(new Map());
      const entries = [...(apply(Map.prototype.entries, value, []) as Iterable<[unknown, unknown]>)];
      for (const [key, item] of entries) copy.set(clone(key, seen), clone(item, seen));
      return copy;
    }
    if (attempt(() => apply(Set.prototype.has, value, [0])) !== undefined) {
      const copy = add(new Set());
      for (const item of [...(apply(Set.prototype.values, value, []) as Iterable<unknown>)])
        copy.add(clone(item, seen));
      return copy;
    }
    if (value instanceof RegExp) return add(new RegExp(`${value.source}`, `${value.flags}`));
    for (const read of [primitiveOfBoolean, Number.prototype.valueOf, String.prototype.valueOf]) {
      const primitive = attempt(() => apply(read as () => unknown, value, []));
      if (primitive !== undefined) return add(Object(read === primitiveOfBoolean ? primitive === 'true' : primitive));
    }
    if (value instanceof Error) return cloneError(value, add);
    for (const Other of [WeakMap, WeakSet, Promise]) {
      if (value instanceof Other) throw dataError(`a ${Other.name} cannot be cloned`);
    }
    return undefined;
  }

  function cloneError(error: Error, add: <T extends object>(copy: T) => T): object {
    const [, ErrorClass] = errorClasses.find(([name]) => name === error.name) ?? errorClasses[0] ?? [];
    const copy = add(new (ErrorClass ?? Error)(`${error.message}`)) as Error;
    Object.defineProperty(copy, 'stack', { value: `${error.stack}`, configurable: true, writable: true });
    return copy;
  }

  function cloneFields(value: object, copy: object, seen: Map<object, object>): object {
    for (const key of Object.keys(value)) {
      Object.defineProperty(copy, key, {
        value: clone((value as Record<string, unknown>)[key], seen),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    return copy;
  }

  function attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch {
      return undefined;
    }
  }

  function dataError(message: string) {
    return new DOMException(message, 'DataCloneError');
  }
}
