/** Freezes the built-ins, so that no request of a transform can change them for the next one. The isolate receives this function as
 *  source text, like the bootstrap, and runs it before the user's code. Returns a function that restores the global object, which
 *  stays extensible because code may assign to undeclared names.
 *  @param hidden built-ins that the global object does not lead to */
export function harden(hidden: object[]): () => boolean {
  const { ownKeys, getPrototypeOf, setPrototypeOf, getOwnPropertyDescriptor, defineProperty, deleteProperty, apply } =
    Reflect;
  const { freeze, isExtensible } = Object;
  const { exec } = RegExp.prototype;
  const scope = globalThis as object;

  removeDeferredExecution();
  const reachable = findReachable();
  for (const name of ['Object', 'Function', 'Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError'])
    allowOverride(name);
  for (const name of ['TypeError', 'URIError', 'AggregateError']) allowOverride(name);
  for (const key of ownKeys(scope)) {
    const { configurable, value } = getOwnPropertyDescriptor(scope, key) as PropertyDescriptor;
    if (configurable)
      defineProperty(scope, key, { configurable: false, ...(value !== undefined && { writable: false }) });
  }
  reachable.delete(scope);
  reachable.forEach(freeze);

  const initialNames = new Set(ownKeys(scope));
  const globalPrototype = getPrototypeOf(scope);
  const emptyPattern = /(?:)/;

  /** False when the context is unusable. */
  return () => {
    // The last match stays readable in RegExp.$1 and similar properties.
    apply(exec, emptyPattern, ['']);
    if (!isExtensible(scope)) return false;
    if (getPrototypeOf(scope) !== globalPrototype && !setPrototypeOf(scope, globalPrototype)) return false;
    const keys = ownKeys(scope);
    if (keys.length === initialNames.size) return true;
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i] as string | symbol;
      if (!initialNames.has(key) && !deleteProperty(scope, key)) return false;
    }
    return true;
  };

  /** These globals could run code of one request during another. */
  function removeDeferredExecution() {
    const names = scope as Record<string, { waitAsync?: unknown }>;
    delete names.FinalizationRegistry;
    delete names.WeakRef;
    delete names.Atomics?.waitAsync;
  }

  /** All objects that code can reach: from the global object, and from values that syntax alone creates. */
  function findReachable() {
    const generator = function* () {};
    const asyncGenerator = async function* () {};
    const segments = new Intl.Segmenter().segment('a');
    const seen = new Set<object>();
    const todo: object[] = [];
    const add = (value: unknown) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
      seen.add(value);
      todo.push(value);
    };
    const roots: unknown[] = [scope, async () => {}, generator, generator(), asyncGenerator, asyncGenerator()];
    roots.push([].values(), new Map().entries(), new Set().entries(), ''[Symbol.iterator](), 'a'.matchAll(/a/g));
    roots.push(
      [].values().map((x) => x),
      Iterator.from({ next: () => ({ done: true, value: 0 }) }),
    );
    roots.push(segments, segments[Symbol.iterator](), new Uint8Array(), ...hidden);
    roots.forEach(add);
    for (let object = todo.pop(); object; object = todo.pop()) {
      add(getPrototypeOf(object));
      for (const key of ownKeys(object)) {
        const { value, get, set } = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
        add(value);
        add(get);
        add(set);
      }
    }
    return seen;
  }

  /** A property that is inherited from a frozen object cannot be assigned. Accessors allow it: `error.name = …`, and `copy[key] = …` if
   *  a provider has a field "constructor". */
  function allowOverride(name: string) {
    const { prototype } = (scope as Record<string, { prototype: object }>)[name] as { prototype: object };
    for (const key of ownKeys(prototype)) {
      const { value, enumerable, configurable } = getOwnPropertyDescriptor(prototype, key) as PropertyDescriptor;
      if (value === undefined || !configurable) continue;
      const property = {
        get: () => value,
        set(this: object, newValue: unknown) {
          defineProperty(this, key, { value: newValue, writable: true, enumerable: true, configurable: true });
        },
      };
      reachable.add(property.get).add(property.set);
      defineProperty(prototype, key, { ...property, enumerable: enumerable === true, configurable: false });
    }
  }
}
