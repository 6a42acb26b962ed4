import { invalidField } from '../../errors.ts';
import { compileFilter, type Expression } from '../../model/expressions/expression.ts';
import { describe } from '../../model/values/json.ts';

/** @throws ServiceError input_invalid, naming the field */
export function checkFilter(filter: string, field = 'filter'): Expression {
  try {
    return compileFilter(filter);
  } catch (error) {
    throw invalidField(field, `got ${describe(filter)}; expected a CEL expression: ${(error as Error).message}`);
  }
}
