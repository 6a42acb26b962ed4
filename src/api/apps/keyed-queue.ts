/** Work of the same name is done one after the other in this process. What looks at how much there is before it adds to it would else be
 *  passed by what comes at the same moment. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const mine = before ? before.then(work, work) : work();
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}
