/** Integers of JSON that a double may confuse with another one. In a scope they are bigints (parseIntegers), which cel-js takes for integers
 *  of the expression: it compares them exactly, with doubles too. Arithmetic and `type()` take them for doubles, as all numbers of JSON:
 *  otherwise `event.data.amount / 100` would depend on the size of the amount. `int()` makes them integers. */
import type { CheckedNode, Handle } from './checked-node.ts';

export function isLong(value: unknown): value is bigint {
  return typeof value === 'bigint' && (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER);
}

/** Operands whose type is known before evaluation are not JSON. */
export function withDoubles({ left, right }: CheckedNode, handle: Handle): Handle {
  const isJson = [left, right].map((operand) => operand?.checkedType?.name === 'dyn');
  if (!isJson.includes(true)) return handle;
  return (a, b, ...rest) =>
    // Texts keep all digits.
    (isLong(a) || isLong(b)) && typeof a !== 'string' && typeof b !== 'string'
      ? handle(isJson[0] ? toDouble(a) : a, isJson[1] ? toDouble(b) : b, ...rest)
      : handle(a, b, ...rest);
}

export function toDouble(value: unknown): unknown {
  return isLong(value) ? Number(value) : value;
}
