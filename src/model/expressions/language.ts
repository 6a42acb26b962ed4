/** Tidegate's CEL: cel-js with bounds at compile time and fuel (fuel.ts) at evaluation time.
 *
 *  cel-js has no fuel, so this hooks into its internals: the evaluator, which runs every node, and the `handle` of a checked node, which
 *  receives the values of its operands. test/expressions fails if a later version of cel-js differs. */
import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { checkBounds, checkLength, PARSER_LIMITS, readableError } from './bounds.ts';
import type { CheckedNode, Evaluator } from './checked-node.ts';
import { distinguishMissing } from './event-comparisons.ts';
import { EXHAUSTED, Fuel, NOT_EVALUABLE } from './fuel.ts';
import { type EvaluationTime, registerFunctions } from './functions.ts';
import { meter } from './prices.ts';

/** JSON has one number type; CEL has two, which do not mix. These operators combine integers of an expression with doubles of JSON. */
const MIXED_OPERATORS: Record<string, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

/** Fuel for a new error in a loop, which has a stack trace and an excerpt. */
const UNITS_OF_NEW_ERROR = 300;
/** Fuel for a shared error. */
const UNITS_OF_ERROR = 10;
/** An environment caches the types of literals; a new one replaces it after this many expressions, to bound memory. */
const COMPILES_PER_ENVIRONMENT = 1_000;

const ORDER = ['<', '<=', '>', '>='];
const ORDERED = ['bool', 'int', 'uint', 'double', 'string', 'google.protobuf.Timestamp', 'google.protobuf.Duration'];
/** Types that can be added to a text. */
const ADDED_TO_TEXT = ['null', 'bool', 'int', 'uint', 'double', 'list', 'map', 'google.protobuf.Timestamp'];

interface CelEvaluator extends Evaluator {
  debugType(value: unknown): unknown;
  debugTypeDeep(value: unknown): unknown;
  createError(): Error;
}

export interface Compiled {
  ast: ASTNode;
  /** Refill the fuel first. @throws any error of the evaluation */
  evaluate(scope: Record<string, unknown>): unknown;
}

export class Language {
  readonly fuel = new Fuel();
  readonly time: EvaluationTime = { nowMs: 0 };
  readonly #variables: readonly string[];
  #environment: Environment;
  #compiled = 0;

  constructor(variables: readonly string[]) {
    this.#variables = variables;
    this.#environment = environmentOf(variables, this.fuel, this.time);
  }

  /** @throws Error with a readable message */
  compile(source: string): Compiled {
    if (++this.#compiled % COMPILES_PER_ENVIRONMENT === 0)
      this.#environment = environmentOf(this.#variables, this.fuel, this.time);
    checkLength(source);
    const program = parse(this.#environment, source);
    checkBounds(program.ast);
    const { valid, error } = program.check();
    if (!valid) throw readableError(error);
    meter(program.ast as unknown as CheckedNode, this.fuel);
    distinguishMissing(program.ast);
    return { ast: program.ast, evaluate: program };
  }
}

function parse(environment: Environment, source: string): ParseResult {
  try {
    return environment.parse(source);
  } catch (error) {
    throw readableError(error);
  }
}

function environmentOf(variables: readonly string[], fuel: Fuel, time: EvaluationTime): Environment {
  const environment = new Environment({ limits: PARSER_LIMITS, homogeneousAggregateLiterals: false });
  for (const variable of variables) environment.registerVariable(variable, 'dyn');
  for (const [operator, apply] of Object.entries(MIXED_OPERATORS)) {
    environment.registerOperator(`double ${operator} int`, (a: number, b: bigint) => apply(a, Number(b)));
    environment.registerOperator(`int ${operator} double`, (a: bigint, b: number) => apply(Number(a), b));
  }
  environment.registerOperator('double % double', (a: number, b: number) => a % b);
  registerMissing(environment);
  registerFunctions(environment, time);
  addFuel(evaluatorOf(environment), fuel);
  return environment;
}

/** Only for type checks; missing-values.ts computes the results. */
function registerMissing(environment: Environment): void {
  const unused = () => false;
  const isSame = (a: unknown, b: unknown) => a === b;
  for (const operator of ORDER) {
    environment.registerOperator(`null ${operator} null`, unused);
    for (const type of ORDERED) {
      environment.registerOperator(`null ${operator} ${type}`, unused);
      environment.registerOperator(`${type} ${operator} null`, unused);
    }
  }
  // Both orders of operands; CEL derives `!=`.
  for (const type of ORDERED) environment.registerOperator(`null == ${type}`, isSame);
  for (const type of ADDED_TO_TEXT) {
    environment.registerOperator(`string + ${type}: string`, unused as never);
    environment.registerOperator(`${type} + string: string`, unused as never);
  }
}

/** Gets the evaluator, which is `this` in custom functions. */
function evaluatorOf(environment: Environment): CelEvaluator {
  let found: CelEvaluator | undefined;
  environment.registerFunction('evaluator(): bool', function (this: CelEvaluator) {
    found ??= this;
    return false;
  } as () => boolean);
  environment.evaluate('evaluator()');
  if (!found) throw new Error('cel-js no longer calls custom functions as methods of its evaluator');
  return found;
}

function addFuel(evaluator: CelEvaluator, fuel: Fuel): void {
  Object.assign(evaluator, {
    run(node: CheckedNode, context: unknown) {
      fuel.spend(1);
      return node.evaluate(evaluator, node, context);
    },
    /** Used by `||`, `&&` and loops, which continue after an error, but not after EXHAUSTED. */
    tryEval(node: CheckedNode, context: unknown) {
      try {
        return evaluator.run(node, context);
      } catch (error) {
        if (error === EXHAUSTED) throw error;
        fuel.spend(error === NOT_EVALUABLE ? UNITS_OF_ERROR : UNITS_OF_NEW_ERROR);
        return error;
      }
    },
    createError: () => NOT_EVALUABLE,
    // cel-js would inspect lists and objects to create a type, and cache it forever.
    debugTypeDeep: (value: unknown) => evaluator.debugType(value),
  });
}
