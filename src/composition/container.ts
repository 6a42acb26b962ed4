/** The parts of a process by name. Each is built once, on first use, and all are closed in the reverse order. */

/** @param parts all parts, from which it takes its dependencies */
type Build<Parts, Part> = (parts: Parts) => Part;

/** A part that must be closed. */
interface Closable<Parts, Part> {
  build: Build<Parts, Part>;
  close: (part: Part) => unknown;
}

/** Parts that a feature provides, and parts that it needs. */
export type Definitions<Gives, Needs> = {
  [Name in keyof Gives]: Build<Gives & Needs, Gives[Name]> | Closable<Gives & Needs, Gives[Name]>;
};

export class Container<Parts extends object> {
  readonly parts: Parts;
  /** Names of the parts being built: each needs the next. */
  readonly #building: string[] = [];
  readonly #closes: (() => unknown)[] = [];

  /** @param given existing parts, which their owner closes */
  constructor(given: Parts) {
    this.parts = Object.create(given);
  }

  /** A part replaces an earlier one with the same name. */
  with<Gives extends object>(
    definitions: Definitions<Gives, Omit<Parts, keyof Gives>>,
  ): Container<Omit<Parts, keyof Gives> & Gives> {
    for (const [name, definition] of Object.entries(definitions)) {
      const { build, close } =
        typeof definition === 'function' ? { build: definition } : (definition as Closable<unknown, unknown>);
      const get = () => this.#build(name, build as Build<unknown, unknown>, close);
      Object.defineProperty(this.parts, name, { get, configurable: true, enumerable: true });
    }
    return this as unknown as Container<Omit<Parts, keyof Gives> & Gives>;
  }

  /** Closes the built parts, last first. If one fails, the others are still closed.
   *  @throws the first error */
  async close(): Promise<void> {
    await closeAll(this.#closes);
  }

  #build(name: string, build: Build<unknown, unknown>, close?: (part: unknown) => unknown): unknown {
    if (this.#building.includes(name)) {
      throw new TypeError(`parts that need each other: ${[...this.#building, name].join(' → ')}`);
    }
    this.#building.push(name);
    try {
      const value = build(this.parts);
      Object.defineProperty(this.parts, name, { value, configurable: true, enumerable: true });
      if (close) this.#closes.push(() => close(value));
      return value;
    } finally {
      this.#building.pop();
    }
  }
}

/** Removes and calls each function, last first. If one fails, the others are still called.
 *  @throws the first error */
export async function closeAll(closes: (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (let close = closes.pop(); close; close = closes.pop()) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
