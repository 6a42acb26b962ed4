import { invalidField } from '../../errors.ts';
import { compileFilter, type Expression } from '../../model/expressions/expression.ts';
import { describe } from '../../model/values/json.ts';

/** @throws ServiceError input_invalid, naming the field */
export function checkFilter(filter: string, field = 'filter'): Expression {
  return checkExpression(filter, field, compileFilter);
}

/** @throws ServiceError input_invalid, naming the field */
export function checkExpression(source: string, field: string, compile: (source: string) => Expression): Expression {
  try {
    return compile(source);
  } catch (error) {
    throw invalidField(field, `got ${describe(source)}; expected a CEL expression: ${(error as Error).message}`);
  }
}
