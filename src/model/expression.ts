/** Trigger expressions: CEL over `event`. */
import { Environment } from '@marcbachmann/cel-js';

/** Whether an event meets the expression. What cannot be evaluated (a field that is not there, say) is not met. */
export type Expression = (scope: { event: unknown }) => boolean;

/** JSON has one kind of number, CEL two that do not mix: whole numbers in an expression meet JSON's doubles half way. */
const MIXED: Record<string, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

const environment = new Environment().registerVariable('event', 'dyn');
for (const [operator, apply] of Object.entries(MIXED)) {
  environment.registerOperator(`double ${operator} int`, (a: number, b: bigint) => apply(a, Number(b)));
  environment.registerOperator(`int ${operator} double`, (a: bigint, b: number) => apply(Number(a), b));
}
environment.registerOperator('double % double', (a: number, b: number) => a % b);

/** @throws Error that says what is wrong with the expression */
export function compile(source: string): Expression {
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
