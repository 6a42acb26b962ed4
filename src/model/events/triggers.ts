/** Finds the functions that an event triggers: by name, by wildcard (a trailing `/*` or `.*`), and by expression. */
import type { AppFunction } from '../apps/app.ts';
import { compile, type Expression } from '../expressions/expression.ts';

/** The expression of a function's trigger. */
export interface TriggerExpression {
  fn: AppFunction;
  source: string;
  /** undefined: an earlier version accepted it, but this one rejects it. It triggers nothing, and does not affect other triggers. */
  readonly expression: Expression | undefined;
}

type Rule = TriggerExpression | { fn: AppFunction; source: undefined };

const isMetAlone = ({ expression }: TriggerExpression, event: unknown) =>
  expression?.evaluate({ event }).result === 'met';

export class TriggerTable {
  readonly #functions = new Map<string, AppFunction>();
  readonly #idsByApp = new Map<string, string[]>();
  readonly #byName = new Map<string, Rule[]>();
  /** Keyed by the text before the star, including the separator. */
  readonly #byPrefix = new Map<string, Rule[]>();

  constructor(functions: Iterable<AppFunction>) {
    for (const fn of functions) {
      this.#functions.set(fn.id, fn);
      add(this.#idsByApp, fn.app, fn.id);
      if (!fn.archived && fn.pausedAt === undefined) this.#index(fn);
    }
  }

  /** Includes archived and paused functions, because their active runs finish. */
  find(functionId: string): AppFunction | undefined {
    return this.#functions.get(functionId);
  }

  /** IDs of all functions of the app, including archived and paused ones. */
  idsOf(app: string): readonly string[] {
    return this.#idsByApp.get(app) ?? [];
  }

  /** Whether events of this name trigger a function, if its expression is met. */
  isTrigger(name: string): boolean {
    return !this.#candidates(name).next().done;
  }

  /** Yields every function that the event triggers, once; yields undefined after each expression that is not met, so that callers can
   *  pause.
   *  @param read returns the event; called only if an expression needs it */
  *match(
    name: string,
    read: () => unknown,
    isMet: (trigger: TriggerExpression, event: unknown) => boolean = isMetAlone,
  ): Generator<AppFunction | undefined> {
    let event: unknown;
    const matched = new Set<AppFunction>();
    for (const rules of this.#candidates(name)) {
      for (const rule of rules) {
        if (matched.has(rule.fn)) continue;
        if (rule.source !== undefined) {
          event ??= read();
          if (!isMet(rule, event)) {
            yield undefined;
            continue;
          }
        }
        matched.add(rule.fn);
        yield rule.fn;
      }
    }
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
      const isWildcard = event.endsWith('/*') || event.endsWith('.*');
      const [index, key] = isWildcard ? [this.#byPrefix, event.slice(0, -1)] : [this.#byName, event];
      add(index, key, expression === undefined ? { fn, source: undefined } : ruleOf(fn, expression));
    }
  }
}

/** Compiles the expression at its first use, because an environment can have thousands. */
function ruleOf(fn: AppFunction, source: string): Rule {
  let compiled: { expression: Expression | undefined } | undefined;
  return {
    fn,
    source,
    get expression() {
      compiled ??= { expression: tryCompile(source) };
      return compiled.expression;
    },
  };
}

function tryCompile(source: string): Expression | undefined {
  try {
    return compile(source);
  } catch {
    return undefined;
  }
}

function add<T>(lists: Map<string, T[]>, key: string, one: T): void {
  const list = lists.get(key);
  if (list) list.push(one);
  else lists.set(key, [one]);
}
