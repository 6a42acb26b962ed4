/** The conditions of a WHERE clause, with their values. */
export class Conditions {
  readonly #parts: string[] = [];
  readonly values: unknown[] = [];

  /** @param sql with a question mark for each value */
  add(sql: string, ...values: readonly unknown[]): this {
    let next = this.values.length;
    this.#parts.push(sql.replaceAll('?', () => `$${++next}`));
    this.values.push(...values);
    return this;
  }

  /** Adds a value without a condition.
   *  @returns its placeholder */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** A copy to which more conditions can be added. */
  copy(): Conditions {
    const copy = new Conditions();
    copy.#parts.push(...this.#parts);
    copy.values.push(...this.values);
    return copy;
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  get sql(): string {
    return this.#parts.length === 0 ? 'true' : this.#parts.map((part) => `(${part})`).join(' AND ');
  }
}
