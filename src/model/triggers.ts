/** Which functions an event triggers: by name, by wildcard (a trailing `/*` or `.*`), and by expression. */
import type { AppFunction } from './app.ts';
import { compile, type Expression } from './expression.ts';

interface Rule {
  fn: AppFunction;
  met: Expression | undefined;
}

export class TriggerTable {
  readonly #functions = new Map<string, AppFunction>();
  readonly #idsByApp = new Map<string, string[]>();
  readonly #byName = new Map<string, Rule[]>();
  /** Keyed by what stands before the star, separator included. */
  readonly #byPrefix = new Map<string, Rule[]>();

  constructor(functions: Iterable<AppFunction>) {
    for (const fn of functions) {
      this.#functions.set(fn.id, fn);
      add(this.#idsByApp, fn.app, fn.id);
      if (!fn.archived && fn.pausedAt === undefined) this.#index(fn);
    }
  }

  /** Archived and paused functions too: their runs in flight finish. */
  find(functionId: string): AppFunction | undefined {
    return this.#functions.get(functionId);
  }

  /** Of all functions of the app, archived and paused ones too. */
  idsOf(app: string): readonly string[] {
    return this.#idsByApp.get(app) ?? [];
  }

  /** Every function that the event triggers, each once.
   *  @param read gives the event; called only where an expression asks for it */
  match(name: string, read: () => unknown): AppFunction[] {
    const scope = { event: undefined as unknown };
    const matched = new Set<AppFunction>();
    for (const rules of this.#candidates(name)) {
      for (const { fn, met } of rules) {
        if (matched.has(fn)) continue;
        if (met) scope.event ??= read();
        if (!met || met(scope)) matched.add(fn);
      }
    }
    return [...matched];
  }

  *#candidates(name: string): Generator<Rule[]> {
    const named = this.#byName.get(name);
    if (named) yield named;
    if (this.#byPrefix.size === 0) return;
    for (let end = 1; end < name.length; end++) {
      const separator = name[end - 1];
      const rules = separator === '/' || separator === '.' ? this.#byPrefix.get(name.slice(0, end)) : undefined;
      if (rules) yield rules;
    }
  }

  #index(fn: AppFunction): void {
    for (const { event, expression } of fn.triggers) {
      if (event === undefined) continue;
      const wild = event.endsWith('/*') || event.endsWith('.*');
      const [index, key] = wild ? [this.#byPrefix, event.slice(0, -1)] : [this.#byName, event];
      const rule = { fn, met: expression === undefined ? undefined : compile(expression) };
      add(index, key, rule);
    }
  }
}

function add<T>(lists: Map<string, T[]>, key: string, one: T): void {
  const list = lists.get(key);
  if (list) list.push(one);
  else lists.set(key, [one]);
}
