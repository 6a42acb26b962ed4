import { expect } from 'chai';
import { z } from 'zod';
import { expected } from '../../src/model/values/expected.ts';

const stringOrList = z.union([z.string(), z.array(z.string())]);
const CASES: [schema: z.ZodType, given: unknown, text: string][] = [
  [z.enum(['sleeping', 'retrying']), 'sleping', 'expected "sleeping" or "retrying"; did you mean "sleeping"?'],
  [z.enum(['Queued', 'Running']), 'queued', 'expected "Queued" or "Running"; did you mean "Queued"?'],
  [z.enum(['a', 'b', 'c']), 3, 'expected "a", "b" or "c"'],
  [z.literal('true'), 'yes', 'expected "true"'],
  [z.enum(Array.from({ length: 40 }, (_, n) => `option-${n}-of-many`)), 'x', '"option-29-of-many" or 10 others'],
  [z.string(), undefined, 'required; expected a string'],
  [z.string(), 3, 'expected a string'],
  [z.boolean(), 'on', 'expected true or false'],
  [z.coerce.number().int(), 'many', 'expected a number'],
  [z.int(), 1.5, 'expected a whole number'],
  [z.number().max(5), 6, 'expected at most 5'],
  [z.number().gt(0), 0, 'expected more than 0'],
  [z.string().min(1), '', 'expected at least 1 character'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'expected at most 2 entries'],
  [z.string().regex(/^a+$/), 'b', 'expected text that matches /^a+$/'],
  [z.email(), 'me', 'expected an email address'],
  [z.iso.datetime(), 'soon', 'expected an ISO 8601 time with its zone, such as 2026-01-31T12:00:00Z'],
  [stringOrList, 3, 'expected a string, or a list'],
  [
    z.discriminatedUnion('kind', [z.object({ kind: z.literal('x') }), z.object({ kind: z.literal('y') })]),
    { kind: 'z' },
    'expected "x" or "y"',
  ],
  [z.string().refine((text) => text === 'a', 'expected the letter a'), 'b', 'expected the letter a'],
];

describe('The error for an invalid value', () => {
  for (const [schema, given, text] of CASES) {
    it(`says what was expected instead of ${JSON.stringify(given)}: ${text}`, () => {
      const { error } = schema.safeParse(given, { error: expected });
      expect(error?.issues[0]?.message).to.satisfy((message: string) => message === text || message.endsWith(text));
    });
  }
});
