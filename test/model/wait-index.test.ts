import { expect } from 'chai';
import fc from 'fast-check';
import { compileWait } from '../../src/model/expressions/expression.ts';
import { valueAt } from '../../src/model/expressions/paths.ts';
import { digestOf, indexWait, readWait } from '../../src/model/runs/wait-index.ts';

const FIELDS = ['a', 'b', 'c.d', 'c.missing', 'missing'];
const LONG = 1234567890123456789n;
const scalars = fc.constantFrom<unknown>(
  ...[null, true, false, 0, 1, 1.5, -1, '', 'a', '1', 'null'],
  // Of all these, the double is the same.
  ...[LONG, LONG, LONG - 1n, Number(LONG), String(LONG)],
);
const values = fc.oneof(
  scalars,
  fc.array(scalars, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('d', 'x'), scalars),
);
const events = fc.record({
  name: fc.constant('x'),
  data: fc.record({ a: values, b: values, c: values }, { requiredKeys: [] }),
  user: fc.constant({}),
});

const operands = fc.oneof(
  fc.constantFrom(...FIELDS.map((field) => `event.data.${field}`)),
  fc.constantFrom(...FIELDS.map((field) => `async.data.${field}`)),
  fc.constantFrom(
    'dyn(1)',
    '"a"',
    'null',
    '1',
    '1.0',
    'true',
    '1234567890123456789',
    '(event.data.a + "a")',
    'async["data"].a',
    'async.data.a[0]',
  ),
);
const comparisons = fc
  .tuple(operands, fc.constantFrom('==', '==', '==', '!=', '<'), operands)
  .map(([a, operator, b]) => `${a} ${operator} ${b}`)
  .filter(compiles);
const expressions = fc.letrec<{ one: string }>((tie) => ({
  one: fc.oneof(
    { depthSize: 'small' },
    comparisons,
    fc.tuple(tie('one'), fc.constantFrom('&&', '&&', '||'), tie('one')).map(([a, op, b]) => `(${a} ${op} ${b})`),
    tie('one').map((item) => `!(${item})`),
    fc.tuple(tie('one'), operands).map(([one, operand]) => `(${operand} ? ${one} : false)`),
  ),
})).one;

describe('The index of waits', () => {
  it('finds every wait that an event matches, even with missing fields', () => {
    let met = 0;
    let indexed = 0;
    fc.assert(
      fc.property(expressions.filter(compiles), events, events, (expression, caused, received) => {
        const given = { runId: 'r', functionId: 'f', eventId: 'e', expression };
        const { wait, equality } = indexWait(given, caused);
        const { result } = compileWait(expression).evaluate({ event: caused, async: received });
        const stored = wait.caused === undefined ? caused : JSON.parse(JSON.stringify(wait.caused));
        const ofStored = compileWait(expression).evaluate({ event: stored, async: received }).result;
        expect(ofStored, 'the stored part of the event is enough').to.equal(result);
        if (equality) indexed++;
        if (result !== 'met') return;
        met++;
        if (!equality) return;
        expect(digestOf(equality.path, valueAt(received, equality.path)), expression).to.equal(equality.digest);
      }),
      { numRuns: 3_000 },
    );
    expect(met).to.be.above(100);
    expect(indexed).to.be.above(100);
  });

  it('has the same key for equal numbers, whatever their types, and for all numbers the key of earlier versions', () => {
    const numbers = fc.oneof(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.double(), fc.integer());
    fc.assert(
      fc.property(numbers, (number) => {
        const key = digestOf(['data', 'n'], number);
        expect(digestOf(['data', 'n'], Number(number))).to.equal(key);
        if (Number.isInteger(Number(number))) expect(digestOf(['data', 'n'], BigInt(Number(number)))).to.equal(key);
      }),
    );
    expect(digestOf(['data', 'n'], 1234567890123456800)).to.equal('mn70eCrvab6edfcKBDMBtR');
    expect(digestOf(['data', 'n'], 1)).to.equal('vxt1mqqb5OhZ7nLaS_lYI-');
  });

  it('has no values of the triggering event that earlier versions rounded, nor long integers', () => {
    const given = { runId: 'r', functionId: 'f', eventId: 'e', expression: 'async.data.n == event.data.n' };
    const { wait, equality } = indexWait(given, { data: { n: LONG } });
    expect(wait).to.deep.equal(given);
    expect(equality?.digest).to.equal(digestOf(['data', 'n'], Number(LONG)));
    const rounded = { ...given, caused: { data: { n: Number(LONG) } } };
    expect(readWait(JSON.stringify(rounded))).to.deep.equal(given);
    for (const n of [12, 'A1', 999_999_999_999_999, String(LONG)]) {
      const stored = { ...given, caused: { data: { n } } };
      expect(readWait(JSON.stringify(stored))).to.deep.equal(stored);
    }
  });

  it('finds a wait for a field that the triggering event does not have, by its absence', () => {
    const expression = 'async.data.order == event.data.order';
    const { equality } = indexWait({ runId: 'r', functionId: 'f', eventId: 'e', expression }, { data: {} });
    if (!equality) throw new Error('the wait is not indexed');
    for (const [data, found] of [
      [{}, true],
      [{ order: null }, true],
      [{ order: 'A1' }, false],
    ] as const) {
      expect(digestOf(equality.path, valueAt({ data }, equality.path)) === equality.digest).to.equal(found);
    }
  });
});

function compiles(expression: string): boolean {
  try {
    compileWait(expression);
    return true;
  } catch {
    return false;
  }
}
