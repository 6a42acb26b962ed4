/** Searches as text (src/model/search): valid, nearly valid and hostile ones, also at the limits of their size. */
import fc from 'fast-check';
import { number, word } from './hostile.ts';

const VARIABLES = ['name', 'id', 'internal_id', 'source', 'ts', 'received_at', 'data', 'user', 'v'];
const OF_RUNS = ['run_id', 'function_id', 'status', 'error', 'queued_at', 'ended_at', 'output'];

const quoted = word.map((text) => JSON.stringify(text));
const literal = fc.oneof(
  { weight: 4, arbitrary: quoted },
  { weight: 2, arbitrary: number.map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('null', 'true', '1e999', '0x1F', "'a'", '"""a\nb"""', 'r"\\"', 'b"a"', '-', '"\\u0000"'),
  },
);
const field = fc.oneof(
  word.map((text) => `[${JSON.stringify(text)}]`),
  fc.constantFrom(
    '.a',
    '.id',
    '.customer.id',
    '["k\\"q"]',
    '["\'; DROP TABLE events; --"]',
    '[0]',
    '[-1]',
    '[9999999999]',
  ),
);
const path = fc
  .tuple(
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('data', ...VARIABLES) },
      { weight: 2, arbitrary: fc.constantFrom(...OF_RUNS, ...VARIABLES.map((name) => `event.${name}`)) },
    ),
    fc.array(field, { maxLength: 4 }),
  )
  .map(([variable, fields]) => variable + fields.join(''));
const comparison = fc.constantFrom('==', '!=', '<', '<=', '>', '>=', '=');

const atom: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(path, comparison, literal).map((parts) => parts.join(' ')),
  fc.tuple(literal, comparison, path).map((parts) => parts.join(' ')),
  fc.tuple(path, comparison, path).map((parts) => parts.join(' ')),
  fc
    .tuple(path, fc.constantFrom('startsWith', 'endsWith', 'contains', 'matches'), literal)
    .map(([left, test, text]) => `${left}.${test}(${text})`),
  fc.tuple(path, fc.array(literal, { maxLength: 4 })).map(([left, all]) => `${left} in [${all.join(', ')}]`),
  fc.tuple(literal, path).map(([one, list]) => `${one} in ${list}`),
  path.map((one) => `has(${one})`),
);

const nested: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    atom,
    fc
      .tuple(tie('node'), fc.constantFrom('&&', '||', '==', '?'), tie('node'))
      .map(([a, by, b]) => `(${a}) ${by} (${b})`),
    tie('node').map((one) => `!(${one})`),
  ),
})).node;

/** Near the limits of length, depth and number of parts, and beyond them. */
const large: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(
      ['(', 'data.a == 1', ')'],
      ['!', 'has(data.a)', ''],
      ['data.a == 1 || ', 'data.b == 2', ''],
      ['data.a.contains("x") && ', 'true', ''],
      ['', 'data', '.a'],
      ['', 'data', '[0]'],
      ['data.a in [', '1', ']'],
      ['', 'data.a == "', 'a'],
      ['-', '1 == ts', ''],
    ),
    fc.constantFrom(10, 38, 41, 99, 101, 300, 1_000),
  )
  .map(([[before, within, after], times]) => `${before?.repeat(times)}${within}${after?.repeat(times)}`);

export const search: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: nested },
  { weight: 3, arbitrary: atom },
  { weight: 1, arbitrary: large },
  { weight: 1, arbitrary: word },
);
