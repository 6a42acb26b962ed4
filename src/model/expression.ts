/** Expressions in CEL: over `event` in triggers; over `event`, which caused a run, and `async`, which arrived, in waits. */
import { Environment } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';

/** Whether the events meet the expression. What cannot be evaluated (a field that is not there, say) is not met. */
export type Expression = (scope: { event: unknown; async?: unknown }) => boolean;

/** JSON has one kind of number, CEL two that do not mix: whole numbers in an expression meet JSON's doubles half way. */
const MIXED: Record<string, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

const triggers = withMixedNumbers(new Environment().registerVariable('event', 'dyn'));
const waits = withMixedNumbers(new Environment().registerVariable('event', 'dyn').registerVariable('async', 'dyn'));

function withMixedNumbers(environment: Environment): Environment {
  for (const [operator, apply] of Object.entries(MIXED)) {
    environment.registerOperator(`double ${operator} int`, (a: number, b: bigint) => apply(a, Number(b)));
    environment.registerOperator(`int ${operator} double`, (a: bigint, b: number) => apply(Number(a), b));
  }
  return environment.registerOperator('double % double', (a: number, b: number) => a % b);
}

/** @throws Error that says what is wrong with the expression */
export function compile(source: string): Expression {
  return compileIn(triggers, source);
}

const WAITS_MAX = 1_000;
const compiledWaits = new LRUCache<string, Expression>({ max: WAITS_MAX });

/** As `compile`, with `async`; the latest are kept, since the waits of a function share their expressions. */
export function compileWait(source: string): Expression {
  const compiled = compiledWaits.get(source) ?? compileIn(waits, source);
  compiledWaits.set(source, compiled);
  return compiled;
}

function compileIn(environment: Environment, source: string): Expression {
  const program = environment.parse(source);
  const check = program.check();
  if (!check.valid) throw check.error ?? new Error('The expression is not valid');
  return (scope) => {
    try {
      return program(scope) === true;
    } catch {
      return false;
    }
  };
}
