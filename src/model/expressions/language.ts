/** CEL as it is spoken here: cel-js, held to bounds before an expression is taken, and to fuel (fuel.ts) while it is judged.
 *
 *  cel-js has no such thing, so this reaches into what it does not promise to keep: its evaluator, through which every node is run, and
 *  the `handle` of a checked node, which is given the values of its operands. test/expressions fails should a later version differ. */
import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { inWords, PARSER_LIMITS, refuseExcess, refuseLong } from './bounds.ts';
import { EXHAUSTED, Fuel, NOT_EVALUABLE } from './fuel.ts';
import { type CheckedNode, meter } from './prices.ts';

/** JSON has one kind of number, CEL two that do not mix: whole numbers in an expression meet JSON's doubles half way. */
const MIXED: Record<string, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

/** Units of an error within a loop, where it is one of many: it is made with a trace and an excerpt. */
const UNITS_OF_NEW_ERROR = 300;
/** Units of one that was made before. */
const UNITS_OF_ERROR = 10;
/** Types of literals are remembered by an environment; it is made anew before they fill the memory. */
const COMPILED_AT_MOST = 1_000;

interface Evaluator {
  run(node: ASTNode, context: unknown): unknown;
  tryEval(node: ASTNode, context: unknown): unknown;
  debugType(value: unknown): unknown;
  debugTypeDeep(value: unknown): unknown;
  createError(): Error;
}

export interface Compiled {
  ast: ASTNode;
  /** Fuel must have been filled. @throws whatever keeps it from being evaluated */
  evaluate(scope: Record<string, unknown>): unknown;
}

export class Language {
  readonly fuel = new Fuel();
  readonly #variables: readonly string[];
  #environment: Environment;
  #compiled = 0;

  constructor(variables: readonly string[]) {
    this.#variables = variables;
    this.#environment = environmentOf(variables, this.fuel);
  }

  /** @throws Error that says what is wrong with the expression */
  compile(source: string): Compiled {
    if (++this.#compiled % COMPILED_AT_MOST === 0) this.#environment = environmentOf(this.#variables, this.fuel);
    refuseLong(source);
    const program = parse(this.#environment, source);
    refuseExcess(program.ast);
    const { valid, error } = program.check();
    if (!valid) throw inWords(error);
    meter(program.ast as unknown as CheckedNode, this.fuel);
    return { ast: program.ast, evaluate: program };
  }
}

function parse(environment: Environment, source: string): ParseResult {
  try {
    return environment.parse(source);
  } catch (error) {
    throw inWords(error);
  }
}

function environmentOf(variables: readonly string[], fuel: Fuel): Environment {
  const environment = new Environment({ limits: PARSER_LIMITS });
  for (const variable of variables) environment.registerVariable(variable, 'dyn');
  for (const [operator, apply] of Object.entries(MIXED)) {
    environment.registerOperator(`double ${operator} int`, (a: number, b: bigint) => apply(a, Number(b)));
    environment.registerOperator(`int ${operator} double`, (a: bigint, b: number) => apply(Number(a), b));
  }
  environment.registerOperator('double % double', (a: number, b: number) => a % b);
  limit(evaluatorOf(environment), fuel);
  return environment;
}

/** A function is called as a method of the evaluator. */
function evaluatorOf(environment: Environment): Evaluator {
  let found: Evaluator | undefined;
  environment.registerFunction('evaluator(): bool', function (this: Evaluator) {
    found ??= this;
    return false;
  } as () => boolean);
  environment.evaluate('evaluator()');
  if (!found) throw new Error('cel-js does not call functions as methods of its evaluator any more');
  return found;
}

function limit(evaluator: Evaluator, fuel: Fuel): void {
  Object.assign(evaluator, {
    run(node: CheckedNode, context: unknown) {
      fuel.spend(1);
      return node.evaluate(evaluator, node, context);
    },
    /** For `||`, `&&` and loops, which go on after an error; not after this one. */
    tryEval(node: ASTNode, context: unknown) {
      try {
        return evaluator.run(node, context);
      } catch (error) {
        if (error === EXHAUSTED) throw error;
        fuel.spend(error === NOT_EVALUABLE ? UNITS_OF_ERROR : UNITS_OF_NEW_ERROR);
        return error;
      }
    },
    createError: () => NOT_EVALUABLE,
    // cel-js would look into lists and objects, make a type of what it finds, and keep that for ever.
    debugTypeDeep: (value: unknown) => evaluator.debugType(value),
  });
}
