/** Filters of Hookdeck (https://hookdeck.com/docs/filters) as expressions over `event`. */
import { isObject } from '../config/document.ts';

/** The filter cannot be written as an expression. */
export class UnknownFilter extends Error {
  override name = 'UnknownFilter';
}

type Operator = (path: string, value: unknown) => string;

const compared =
  (sign: string): Operator =>
  (path, value) =>
    // A missing field is null, which comes before every other value.
    `(${path} != null && ${path} ${sign} ${literal(value)})`;

const called =
  (method: string): Operator =>
  (path, value) =>
    `${path}.${method}(${literal(value)})`;

const OPERATORS: Record<string, Operator> = {
  $eq: (path, value) => equal(path, value),
  $neq: (path, value) => `${path} != ${literal(value)}`,
  $gt: compared('>'),
  $gte: compared('>='),
  $lt: compared('<'),
  $lte: compared('<='),
  $startsWith: called('startsWith'),
  $endsWith: called('endsWith'),
  $in: (path, value) => `${path} in ${literals(value)}`,
  $nin: (path, value) => `!(${path} in ${literals(value)})`,
  $exist: (path, value) => (value === true ? `${path} != null` : `${path} == null`),
};

/** @param path the value that the filter is for, such as `event.data.body`
 *  @param isNegated what cannot be evaluated would otherwise not be met either
 *  @throws UnknownFilter */
export function expressionOf(filter: unknown, path: string, isNegated = false): string {
  if (!isObject(filter)) return isNegated ? `${path} == ${literal(filter)}` : equal(path, filter);
  const parts = Object.entries(filter).map(([name, value]) => {
    if (name === '$or' || name === '$and') return joined(value, path, name === '$or' ? ' || ' : ' && ', isNegated);
    if (name === '$not') return `!(${expressionOf(value, path, true)})`;
    if (!name.startsWith('$')) return expressionOf(value, `${path}${member(name)}`, isNegated);
    const operator = OPERATORS[name];
    if (!operator) throw new UnknownFilter(`the operator ${name} is not known`);
    return operator(path, value);
  });
  if (parts.length === 0) throw new UnknownFilter('an object of it is empty');
  return parts.length === 1 ? (parts[0] as string) : `(${parts.join(' && ')})`;
}

function joined(filters: unknown, path: string, operator: string, isNegated: boolean): string {
  if (!Array.isArray(filters) || filters.length === 0) throw new UnknownFilter('$or and $and take a list');
  return `(${filters.map((one) => expressionOf(one, path, isNegated)).join(operator)})`;
}

/** A filter with one value also meets a list that has it. */
function equal(path: string, value: unknown): string {
  if (Array.isArray(value)) return `(${value.map((one) => `${literal(one)} in ${path}`).join(' && ')})`;
  return value === null ? `${path} == null` : `(${path} == ${literal(value)} || ${literal(value)} in ${path})`;
}

function member(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function literals(values: unknown): string {
  if (!Array.isArray(values)) throw new UnknownFilter('$in and $nin are known with lists alone');
  return `[${values.map(literal).join(', ')}]`;
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return JSON.stringify(value);
  throw new UnknownFilter(`${JSON.stringify(value)} cannot be compared with`);
}
