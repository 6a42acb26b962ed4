/** Makes what the language offers the same for each request of a transform: nothing that one request does to a built-in is
 *  there for the next. Sent into the isolate as source text, like the driver, and run before the user's code. Returns
 *  what restores the global object: it stays open, since code may assign to names that it did not declare. */
export function harden(): () => boolean {
  const { ownKeys, getPrototypeOf, setPrototypeOf, getOwnPropertyDescriptor, defineProperty, deleteProperty, apply } =
    Reflect;
  const { freeze, isExtensible } = Object;
  const { exec } = RegExp.prototype;
  const scope = globalThis as object;

  takeAwayWhatActsLater();
  const found = walk();
  for (const name of ['Object', 'Function', 'Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError'])
    open(name);
  for (const name of ['TypeError', 'URIError', 'AggregateError']) open(name);
  for (const key of ownKeys(scope)) {
    const { configurable, value } = getOwnPropertyDescriptor(scope, key) as PropertyDescriptor;
    if (configurable)
      defineProperty(scope, key, { configurable: false, ...(value !== undefined && { writable: false }) });
  }
  found.delete(scope);
  found.forEach(freeze);

  const known = new Set(ownKeys(scope));
  const above = getPrototypeOf(scope);
  const nothing = /(?:)/;

  /** False when the context is of no more use. */
  return () => {
    // A match stays behind in RegExp.$1 and its like.
    apply(exec, nothing, ['']);
    if (!isExtensible(scope)) return false;
    if (getPrototypeOf(scope) !== above && !setPrototypeOf(scope, above)) return false;
    const keys = ownKeys(scope);
    if (keys.length === known.size) return true;
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i] as string | symbol;
      if (!known.has(key) && !deleteProperty(scope, key)) return false;
    }
    return true;
  };

  /** What would run code of one request during another. */
  function takeAwayWhatActsLater() {
    const names = scope as Record<string, { waitAsync?: unknown }>;
    delete names.FinalizationRegistry;
    delete names.WeakRef;
    delete names.Atomics?.waitAsync;
  }

  /** All objects that code can reach: from the global object, and from what syntax alone makes. */
  function walk() {
    const generator = function* () {};
    const asyncGenerator = async function* () {};
    const segments = new Intl.Segmenter().segment('a');
    const seen = new Set<object>();
    const todo: object[] = [];
    const visit = (value: unknown) => {
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
    roots.push(segments, segments[Symbol.iterator](), new Uint8Array());
    roots.forEach(visit);
    for (let object = todo.pop(); object; object = todo.pop()) {
      visit(getPrototypeOf(object));
      for (const key of ownKeys(object)) {
        const { value, get, set } = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
        visit(value);
        visit(get);
        visit(set);
      }
    }
    return seen;
  }

  /** What is inherited from a frozen object cannot be assigned to; here it can: `error.name = …`, and `copy[key] = …` where
   *  a provider calls its field "constructor". */
  function open(name: string) {
    const { prototype } = (scope as Record<string, { prototype: object }>)[name] as { prototype: object };
    for (const key of ownKeys(prototype)) {
      const { value, enumerable, configurable } = getOwnPropertyDescriptor(prototype, key) as PropertyDescriptor;
      if (value === undefined || !configurable) continue;
      const property = {
        get: () => value,
        set(this: object, given: unknown) {
          defineProperty(this, key, { value: given, writable: true, enumerable: true, configurable: true });
        },
      };
      found.add(property.get).add(property.set);
      defineProperty(prototype, key, { ...property, enumerable: enumerable === true, configurable: false });
    }
  }
}
