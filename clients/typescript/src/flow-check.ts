/** Checks a function's flow control when it is defined, so that a mistake fails there and not at the registration. The service decides:
 *  it also checks what its settings can change, the upper limits of batches. */
import type { FlowControl } from './flow.ts';
import { refuseUnknown } from './options.ts';
import { timeStringMs } from './steps/duration.ts';

interface Rule {
  allowed: string;
  required?: boolean;
  fits(value: unknown): boolean;
}

const CONCURRENCY_LIMITS_MAX = 2;
const CANCEL_ON_MAX = 5;
/** Options for single events, which cannot be combined with batches. */
const NOT_WITH_BATCHES = [
  'rateLimit',
  'idempotency',
  'debounce',
  'singleton',
  'order',
  'priority',
  'cancelOn',
] as const;
const ORDER_NAME_MAX = 100;

const expression: Rule = { allowed: 'a CEL expression', fits: (value) => typeof value === 'string' && value !== '' };
const orderName: Rule = {
  allowed: `a text of at most ${ORDER_NAME_MAX} characters`,
  fits: (value) => expression.fits(value) && (value as string).length <= ORDER_NAME_MAX,
};
const eventName: Rule = { allowed: 'the name of an event', fits: expression.fits };
const [count, burst, batchSize] = [wholeFrom(1), wholeFrom(0), wholeFrom(2)];
const anyDuration: Rule = { allowed: 'a duration such as "30s" or "7d"', fits: (value) => durationOf(value) >= 0 };

/** The service waits no longer. */
const longWait = duration('1ms', '1827d');

const RULES: Record<string, Record<string, Rule>> = {
  concurrency: { limit: required(count), key: expression, scope: oneOf('fn', 'env', 'account') },
  throttle: { limit: required(count), period: required(duration('1s', '7d')), burst, key: expression },
  rateLimit: { limit: required(count), period: required(duration('1s', '24h')), key: expression },
  debounce: { period: required(duration('1s', '7d')), key: expression, timeout: longWait },
  batchEvents: {
    maxSize: required(batchSize),
    timeout: required(duration('1s')),
    key: expression,
    if: expression,
  },
  priority: { run: required(expression) },
  singleton: { key: expression, mode: required(oneOf('skip', 'cancel')) },
  order: {
    key: required(expression),
    by: expression,
    window: duration('0s', '1h'),
    onStale: oneOf('run', 'skip'),
    onFailure: oneOf('skip', 'block', 'park'),
    name: orderName,
  },
  cancelOn: { event: required(eventName), if: expression, timeout: anyDuration },
  timeouts: { start: longWait, finish: longWait },
};

/** @throws TypeError that names the function, the field, the given value and what is allowed */
export function checkFlow(id: string, flow: FlowControl): void {
  const of = `Function "${id}"`;
  const { concurrency, cancelOn, idempotency, ...settings } = flow;
  if (concurrency !== undefined) checkConcurrency(of, concurrency);
  if (cancelOn !== undefined) checkList(of, 'cancelOn', cancelOn, CANCEL_ON_MAX, 'events', RULES.cancelOn);
  if (idempotency !== undefined) check(`${of}: idempotency`, idempotency, expression);
  for (const [name, given] of Object.entries(settings)) {
    const rules = RULES[name];
    if (rules && given !== undefined) checkFields(of, name, given, rules);
  }
  checkConflicts(of, flow);
}

/** @throws TypeError */
export function checkJitter(id: string, jitter: unknown): void {
  check(`Function "${id}": jitter`, jitter, duration('1s', '24h'));
}

/** @throws TypeError */
export function checkCatchUp(id: string, catchUp: unknown): void {
  check(`Function "${id}": catchUp`, catchUp, oneOf('last', 'all'));
}

/** @throws TypeError */
export function checkOnExhausted(id: string, onExhausted: unknown): void {
  check(`Function "${id}": onExhausted`, onExhausted, oneOf('fail', 'pause'));
}

function checkConcurrency(of: string, given: unknown): void {
  if (typeof given !== 'object' || given === null) {
    check(`${of}: concurrency`, given, count);
  } else if ('fn' in given || 'step' in given) {
    refuseUnknown(`${of}: concurrency`, given, ['fn', 'step']);
    for (const [name, limits] of Object.entries(given)) {
      if (limits !== undefined) checkLimits(of, `concurrency.${name}`, limits as object);
    }
  } else checkLimits(of, 'concurrency', given as object);
}

function checkLimits(of: string, path: string, given: object): void {
  checkList(of, path, [given].flat(), CONCURRENCY_LIMITS_MAX, 'limits', RULES.concurrency);
  for (const [at, { key, scope }] of ([given].flat() as { key?: string; scope?: string }[]).entries()) {
    if (key !== undefined || scope === undefined || scope === 'fn') continue;
    throw new TypeError(
      `${of}: ${path}[${at}].key must be a CEL expression because the scope is "${scope}", got nothing`,
    );
  }
}

function checkList(of: string, path: string, given: unknown, max: number, what: string, rules: Rules): void {
  if (!Array.isArray(given)) throw new TypeError(`${of}: ${path} must be a list, got ${shown(given)}`);
  if (given.length > max) throw new TypeError(`${of}: ${path} must be at most ${max} ${what}, got ${given.length}`);
  for (const [at, one] of given.entries()) checkFields(of, `${path}[${at}]`, one, rules);
}

type Rules = Record<string, Rule> | undefined;

function checkFields(of: string, path: string, given: unknown, rules: Rules = {}): void {
  if (typeof given !== 'object' || given === null) {
    throw new TypeError(`${of}: ${path} must be an object, got ${shown(given)}`);
  }
  refuseUnknown(`${of}: ${path.replace(/\[\d+\]$/, '')}`, given, Object.keys(rules));
  for (const [field, rule] of Object.entries(rules)) {
    check(`${of}: ${path}.${field}`, (given as Record<string, unknown>)[field], rule);
  }
}

function check(what: string, value: unknown, rule: Rule): void {
  if (value === undefined ? rule.required : !rule.fits(value)) {
    throw new TypeError(`${what} must be ${rule.allowed}, got ${shown(value)}`);
  }
}

function checkConflicts(of: string, flow: FlowControl): void {
  if (flow.order && flow.singleton) throw new TypeError(`${of}: order cannot be combined with singleton`);
  const others = NOT_WITH_BATCHES.filter((name) => flow[name] !== undefined);
  if (!flow.batchEvents || others.length === 0) return;
  const known = 'only with concurrency, throttle and timeouts';
  throw new TypeError(`${of}: batchEvents cannot be combined with ${others.join(', ')}, ${known}`);
}

/** For messages. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  return (typeof value === 'number' ? undefined : JSON.stringify(value)) ?? String(value);
}

function required(rule: Rule): Rule {
  return { ...rule, required: true };
}

function wholeFrom(min: number): Rule {
  const fits = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= min;
  return { allowed: `a whole number of at least ${min}`, fits };
}

function oneOf(...names: string[]): Rule {
  const quoted = names.map((name) => `"${name}"`);
  return {
    allowed: `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`,
    fits: (value) => names.includes(value as string),
  };
}

function duration(from: string, to?: string): Rule {
  const [minMs, maxMs] = [durationOf(from), to === undefined ? Number.POSITIVE_INFINITY : durationOf(to)];
  const allowed = to === undefined ? `a duration of at least ${from}` : `a duration from ${from} to ${to}`;
  return { allowed, fits: (value) => durationOf(value) >= minMs && durationOf(value) <= maxMs };
}

/** NaN, which is in no range, if it is not a time string. */
function durationOf(value: unknown): number {
  return (typeof value === 'string' ? timeStringMs(value) : undefined) ?? Number.NaN;
}
