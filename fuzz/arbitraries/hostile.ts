/** Text and values that break parsers. */
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';

const WORDS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  'then',
  'toJSON',
  'null',
  'undefined',
  'NaN',
  'true',
  '0',
  '-1',
  '1e400',
  '9007199254740993',
  '99999999999999999999999999999',
  '0x10',
  '１２',
  '../../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '%00',
  '%',
  '%zz',
  '%c0%ae',
  '%ff%fe',
  '*',
  '?',
  '[a-z]*',
  '$where',
  '{{event}}',
  '#{7*7}',
  '<script>alert(1)</script>',
  "' or 1=1 --",
  'a:b:c',
  '{a}',
  'production',
  '@branches',
  'branches',
  'a/b/c',
  '//evil.example',
  '/\\evil.example',
  '😀',
  'e\u0301',
  '\u202e',
  '\ufeff',
  '\ud800',
  '\udfff\ud800',
  'ﷺ',
  '1970-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '2026-02-30',
  '99999999999999w',
  '-1s',
  '0.0000000001ns',
  '10.0.0.0/8',
  '::1',
  '::ffff:127.0.0.1%eth0',
  '0177.0.0.1',
  '* * * * *',
  '0 0 31 2 *',
  '(a+)+$',
  'event.data.a == 1',
  'true || [1,2,3].all(x, [1,2,3].all(y, x == y))',
  '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
  '01M7Z7A7B6FJ7DZJVGC757486T',
  'eyJhdCI6MSwiaWQiOiIifQ',
  'bnVsbA',
  'IiI',
] as const;

/** Input for regular expressions that backtrack. */
const RUNS = [
  ' ',
  '\t',
  'a',
  '0',
  '9',
  '/',
  '.',
  '-',
  ',',
  '=',
  'a&',
  'a=',
  '%41',
  '[',
  '{"a":',
  '\\',
  '"',
  '*',
  '1s',
  'aA',
];

export const word: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 300 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...RUNS),
        fc.constantFrom(2, 64, 65, 256, 257, 512, 513, 4_000),
        fc.constantFrom('', '!', '\n'),
      )
      .map(([text, times, end]) => text.repeat(times) + end),
  },
);

/** Addresses for the service to call: on this machine, or nonexistent. */
const givenAddress = fc.constantFrom(
  '{{app-url}}',
  '{{app-url}}?probe=trust',
  '{{app-url}}?fnId=x&fnId=y',
  'http://127.0.0.1:1/',
  'http://[::1]:1/',
  'http://localhost:1/a%00b',
  'http://a.invalid/',
  `http://${'a'.repeat(250)}.invalid/`,
  'http://127.0.0.1:99999/',
  'http://user:password@127.0.0.1:1/',
  'ftp://127.0.0.1/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://',
  '//127.0.0.1',
);

/** Hosts that anybody can make an SDK report, many different ones: they fill what waits for a confirmation. */
const forgedHost = fc
  .tuple(
    fc.integer({ min: 0, max: 1_000 }).map((n) => `h${n}.invalid`),
    fc.constantFrom('', 'user:password@', '127.0.0.1:1@', '$(id).', "a';b.", '*.', 'a..'),
    fc.constantFrom('', ':1', '#', '/%2e%2e/admin', '?probe=trust', `/${'a'.repeat(2_000)}`),
  )
  .map(([host, before, after]) => `http://${before}${host}${after}/api`);

export const address: fc.Arbitrary<string> = fc.oneof(givenAddress, forgedHost);

export const number: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(
    0,
    -0,
    1,
    -1,
    0.1,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    2 ** 53 + 2,
    -(2 ** 63),
    1e21,
    1e308,
    5e-324,
    4_102_444_800_001,
  ),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const key: fc.Arbitrary<string> = fc.oneof(fc.constantFrom('a', 'name', 'data', 'id', 'ts', 'user', 'v'), word);

/** Any small JSON value. */
export const value: fc.Arbitrary<unknown> = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    number,
    word,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('node')), { maxLength: 4 }).map(objectOf),
  ),
})).node;

/** With `__proto__` as a key of its own, as JSON.parse makes it. */
export function objectOf(entries: [string, unknown][]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [name, one] of entries) {
    Object.defineProperty(object, name, { value: one, enumerable: true, configurable: true, writable: true });
  }
  return object;
}
