/** Documents and searches over them: with texts that Postgres cannot hold, numbers that a double cannot, deep and mixed values. */
import fc from 'fast-check';
import type { Literal, Path, SearchNode } from '../../src/model/search/syntax.ts';
import { anyCharacter } from '../support/any-character.ts';

const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

// Not a backslash alone: after an object with that key, V8 13.6 reads the key "\\ud800" of a similar one as it.
const KEYS = ['a', 'b', 'id', 'é', '😀', 'a b', 'k"q', 'n\0l', '\ud800', '0', '__proto__', 'length', 'a\\b'];
const TEXTS = [
  '',
  'c_1',
  'C_1',
  'c_10',
  'é',
  '😀',
  '\ud83d',
  'nul\0',
  '\\',
  '"',
  'a"b',
  '\n',
  'null',
  '120',
  '%',
  '_',
  "'",
  '?',
];
const NUMBERS = [0, -0, 1, -1, 120, 0.1, 1e21, 5e-324, Number.MAX_VALUE, 2 ** 53, 12345678901234567000, -2.5];
/** Numbers as JSON texts that a double rounds. */
const RAW_NUMBERS = [
  '120.00000000000000001',
  '12345678901234567890',
  '1e400',
  '-1e-400',
  '1.2e002',
  '0.1000000000000000055',
  '9'.repeat(400),
];

export const key = fc.constantFrom(...KEYS);
const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 5 }) },
);
const number = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);
const literal: fc.Arbitrary<Literal> = fc.oneof(text, number, fc.boolean(), fc.constant(null));

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    literal,
    fc.constantFrom(...RAW_NUMBERS).map(rawJSON),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

/** The data of an event. */
export const data = fc
  .array(fc.tuple(key, value), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries) as Record<string, unknown>);

export const names = fc.constantFrom('order/paid', 'order/sent', 'x', 'é/😀', 'n\0', 'n\uFFFD', '\ud800');
export const dedupIds = fc.option(fc.constantFrom('c_1', 'n\0', 'n\uFFFD', '😀', '\ud83d'), { nil: undefined });

const path: fc.Arbitrary<Path> = fc
  .array(fc.oneof({ weight: 4, arbitrary: key }, { weight: 1, arbitrary: fc.nat({ max: 2 }) }), { maxLength: 3 })
  .map((keys) => ({ variable: 'data', keys }));
const textPath = (variable: string): fc.Arbitrary<Path> => fc.constant({ variable, keys: [] });
const comparison = fc.constantFrom('==', '!=', '<', '<=', '>', '>=') as fc.Arbitrary<'=='>;
const textTest = fc.constantFrom('startsWith', 'endsWith', 'contains') as fc.Arbitrary<'contains'>;

const ofText = (variable: string, texts: fc.Arbitrary<string>): fc.Arbitrary<SearchNode> =>
  fc.oneof(
    fc.record({ kind: fc.constant('compare' as const), path: textPath(variable), comparison, literal: texts }),
    fc.record({
      kind: fc.constant('text' as const),
      path: textPath(variable),
      test: textTest,
      text: fc.oneof(
        texts,
        texts.map((text) => text.slice(0, 2)),
      ),
    }),
    fc.record({
      kind: fc.constant('in' as const),
      path: textPath(variable),
      literals: fc.array(texts, { maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('has' as const), path: textPath(variable) }),
  );

/** @param times around which the events were received */
export function searches(times: { from: number; to: number }): fc.Arbitrary<SearchNode> {
  const time = fc.oneof(fc.integer({ min: times.from, max: times.to }), fc.constantFrom(times.from + 0.5, -1, 1e300));
  const atom: fc.Arbitrary<SearchNode> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('compare' as const), path, comparison, literal }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('text' as const), path, test: textTest, text }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('in' as const), path, literals: fc.array(literal, { maxLength: 4 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('element' as const), path, literal }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('has' as const), path }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('comparePaths' as const), left: path, comparison, right: path }),
    },
    { weight: 2, arbitrary: ofText('name', names as fc.Arbitrary<string>) },
    {
      weight: 1,
      arbitrary: ofText(
        'id',
        dedupIds.map((id) => id ?? 'z'),
      ),
    },
    { weight: 1, arbitrary: ofText('source', fc.constantFrom('api', 'webhook:w1', 'webhook', 'event:01')) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('compare' as const),
        path: fc.constantFrom('received_at', 'ts').map((variable) => ({ variable, keys: [] })),
        comparison,
        literal: time,
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('constant' as const), value: fc.boolean() }) },
  );
  return fc.letrec<{ node: SearchNode }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      atom,
      fc.record({
        kind: fc.constantFrom('and' as const, 'or' as const),
        parts: fc.array(tie('node'), { minLength: 2, maxLength: 3 }),
      }),
      fc.record({ kind: fc.constant('not' as const), part: tie('node') }),
    ),
  })).node;
}
