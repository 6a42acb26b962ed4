/** Base of classes that are made of their dependencies alone. */
export abstract class Composed<Deps> {
  protected readonly deps: Deps;

  constructor(deps: Deps) {
    this.deps = deps;
  }
}
