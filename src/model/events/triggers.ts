/** Which functions an event triggers: by name, by wildcard (a trailing `/*` or `.*`), and by expression. */
import type { AppFunction } from '../apps/app.ts';
import { compile, type Expression } from '../expressions/expression.ts';

/** A trigger's expression, and the function that it is of. */
export interface TriggerExpression {
  fn: AppFunction;
  source: string;
  /** undefined: an earlier version took it, this one refuses it. It triggers nothing, and keeps nothing else from being triggered. */
  readonly expression: Expression | undefined;
}

type Rule = TriggerExpression | { fn: AppFunction; source: undefined };

const isMetAlone = ({ expression }: TriggerExpression, event: unknown) =>
  expression?.judge({ event }).verdict === 'met';

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

  /** Every function that the event triggers, each once; and undefined after each expression that is not met, so that whoever asks may
   *  rest.
   *  @param read gives the event; called only where an expression asks for it */
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
      const wild = event.endsWith('/*') || event.endsWith('.*');
      const [index, key] = wild ? [this.#byPrefix, event.slice(0, -1)] : [this.#byName, event];
      add(index, key, expression === undefined ? { fn, source: undefined } : ruleOf(fn, expression));
    }
  }
}

/** Compiled when it is first asked: an environment may have thousands. */
function ruleOf(fn: AppFunction, source: string): Rule {
  let compiled: { expression: Expression | undefined } | undefined;
  return {
    fn,
    source,
    get expression() {
      compiled ??= { expression: compiledOrNone(source) };
      return compiled.expression;
    },
  };
}

function compiledOrNone(source: string): Expression | undefined {
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
