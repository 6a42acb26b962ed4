/** Finds the functions that an event triggers: by name, by wildcard (a trailing `/*` or `.*`), by the webhook that it came from, and by
 *  expression. */
import type { AppFunction, Trigger } from '../apps/app.ts';
import { type Expression, tryCompile } from '../expressions/expression.ts';
import { type Source, subjectOf } from './event.ts';

export interface TriggerExpression {
  fn: AppFunction;
  source: string;
  /** undefined if an earlier version of the service accepted the expression and this version rejects it. The trigger then matches nothing, and
   *  does not affect other triggers. */
  readonly expression: Expression | undefined;
}

type Rule = TriggerExpression | { fn: AppFunction; source: undefined };

interface Index {
  byName: Map<string, Rule[]>;
  /** Keyed by the text before the star, including the separator. */
  byPrefix: Map<string, Rule[]>;
  byWebhook: Map<string, Rule[]>;
}

const isMetAlone = ({ expression }: TriggerExpression, event: unknown) =>
  expression?.evaluate({ event }).result === 'met';

export class TriggerTable {
  readonly #functions = new Map<string, AppFunction>();
  readonly #idsByApp = new Map<string, string[]>();
  readonly #live = newIndex();
  /** Triggers of paused functions. */
  readonly #paused = newIndex();

  constructor(functions: Iterable<AppFunction>) {
    for (const fn of functions) {
      this.#functions.set(fn.id, fn);
      add(this.#idsByApp, fn.app, fn.id);
      if (!fn.archived) addTo(fn.pausedAt === undefined ? this.#live : this.#paused, fn);
    }
  }

  /** Includes archived and paused functions, because their active runs still finish. */
  find(functionId: string): AppFunction | undefined {
    return this.#functions.get(functionId);
  }

  /** IDs of all functions of the app, including archived and paused ones. */
  idsOf(app: string): readonly string[] {
    return this.#idsByApp.get(app) ?? [];
  }

  /** Whether an event of this name may trigger a function, depending on expressions. */
  isTrigger(name: string): boolean {
    return !candidates(this.#live, name).next().done;
  }

  /** Functions with a trigger for this name, paused ones included, regardless of expressions. */
  listeners(name: string, source?: Source): Set<AppFunction> {
    const rules = [...candidates(this.#live, name, source), ...candidates(this.#paused, name, source)];
    return new Set(rules.flat().map(({ fn }) => fn));
  }

  /** All functions, including archived ones. */
  all(): MapIterator<AppFunction> {
    return this.#functions.values();
  }

  /** Yields every function that the event triggers, once; yields undefined after each expression that is not met, so that callers can
   *  pause.
   *  @param read returns the event; called only if an expression needs it */
  match(
    name: string,
    read: () => unknown,
    isMet: (trigger: TriggerExpression, event: unknown) => boolean = isMetAlone,
    source?: Source,
  ): Generator<AppFunction | undefined> {
    return match(this.#live, name, read, isMet, source);
  }

  /** Like `match`, but yields the functions that the event would trigger if they were not paused. */
  matchPaused(...args: Required<Parameters<TriggerTable['match']>>): Generator<AppFunction | undefined> {
    return match(this.#paused, ...args);
  }

  get hasPaused(): boolean {
    const { byName, byPrefix, byWebhook } = this.#paused;
    return byName.size > 0 || byPrefix.size > 0 || byWebhook.size > 0;
  }

  /** Whether a function gets the original requests of the webhook. */
  needsRequestsOf(webhook: string): boolean {
    const rules = [...(this.#live.byWebhook.get(webhook) ?? []), ...(this.#paused.byWebhook.get(webhook) ?? [])];
    return rules.some(({ fn }) => fn.destination?.body === 'request');
  }
}

function newIndex(): Index {
  return { byName: new Map(), byPrefix: new Map(), byWebhook: new Map() };
}

function* match(
  index: Index,
  name: string,
  read: () => unknown,
  isMet: (trigger: TriggerExpression, event: unknown) => boolean,
  source: Source | undefined,
): Generator<AppFunction | undefined> {
  let event: unknown;
  const matched = new Set<AppFunction>();
  for (const rules of candidates(index, name, source)) {
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

function* candidates({ byName, byPrefix, byWebhook }: Index, name: string, source?: Source): Generator<Rule[]> {
  const named = byName.get(name);
  if (named) yield named;
  const webhook = byWebhook.size === 0 || source === undefined ? undefined : subjectOf(source, 'webhook');
  const ofWebhook = webhook === undefined ? undefined : byWebhook.get(webhook);
  if (ofWebhook) yield ofWebhook;
  if (byPrefix.size === 0) return;
  for (let end = 1; end < name.length; end++) {
    const separator = name[end - 1];
    const rules = separator === '/' || separator === '.' ? byPrefix.get(name.slice(0, end)) : undefined;
    if (rules) yield rules;
  }
}

function addTo({ byName, byPrefix, byWebhook }: Index, fn: AppFunction): void {
  for (const { event, webhook, expression } of fn.triggers) {
    const rule = expression === undefined ? { fn, source: undefined } : ruleOf(fn, expression);
    if (webhook !== undefined) add(byWebhook, webhook, rule);
    if (event === undefined) continue;
    const [index, key] = isWildcard(event) ? [byPrefix, event.slice(0, -1)] : [byName, event];
    add(index, key, rule);
  }
}

function isWildcard(event: string): boolean {
  return event.endsWith('/*') || event.endsWith('.*');
}

/** Whether an event with this name and source may meet the trigger, depending on its expression. */
export function mayMeet({ event, webhook }: Pick<Trigger, 'event' | 'webhook'>, name: string, source: Source): boolean {
  if (webhook !== undefined && source === `webhook:${webhook}`) return true;
  return event !== undefined && listensTo(event, name);
}

/** Whether a trigger matches events of this name. */
export function listensTo(trigger: string, name: string): boolean {
  if (!isWildcard(trigger)) return trigger === name;
  const prefix = trigger.slice(0, -1);
  return name.length > prefix.length && name.startsWith(prefix);
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

function add<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
