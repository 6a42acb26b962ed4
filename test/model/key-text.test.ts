import { expect } from 'chai';
import fc from 'fast-check';
import { recordOf, triggerEventOf } from '../../src/model/events/event.ts';
import { compile } from '../../src/model/expressions/expression.ts';
import { keyTextOf } from '../../src/model/flow-control/key-text.ts';

const KEYS = [
  'event.data.n',
  '"n-" + event.data.n',
  'string(event.data.n)',
  '[event.data.n, "x"]',
  'event.data',
  '"" + event.data.list',
  'event.data.list[0]',
];

describe('The text of a key', () => {
  it('has the digits of an integer, and is another one for each integer of up to 80 digits', () => {
    const integers = fc.oneof(
      fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }),
      fc.bigInt({ min: -(10n ** 80n) + 1n, max: 10n ** 80n - 1n }),
      fc.bigInt({ min: -100n, max: 100n }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...KEYS), integers, fc.integer({ min: -3, max: 3 }), (key, a, distance) => {
        const [one, other] = [a, a + BigInt(distance)].map((n) => keyOf(key, `{"n":${n},"list":[${n}]}`));
        expect(one === other, `${key} of ${a} and ${a + BigInt(distance)}`).to.equal(distance === 0);
        expect(isDoubleText(a) || one?.includes(String(a)), key).to.equal(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('distinguishes integers that are the same 64-bit float', () => {
    for (const key of KEYS) {
      const numbers = ['1234567890123456789', '1234567890123456788', '1234567890123456768', '1234567890123456800'];
      const texts = numbers.map((n) => keyOf(key, `{"n":${n},"list":[${n}]}`));
      expect(new Set(texts).size, key).to.equal(numbers.length);
      for (const [i, text] of texts.entries()) expect(text).to.include(numbers[i]);
    }
    expect(keyOf('event.data', '{"n":1234567890123456789}')).to.equal('{"n":1234567890123456789}');
    expect(keyOf('event.data', '{"n":"1234567890123456789"}')).to.equal('{"n":"1234567890123456789"}');
  });

  it('is the text of earlier versions for all other values', () => {
    const values: [json: string, text: string][] = [
      ['1', '1'],
      ['1.0', '1'],
      ['-0', '0'],
      ['0.1', '0.1'],
      ['9007199254740991', '9007199254740991'],
      ['9007199254740992', '9007199254740992'],
      ['1234567890123456800', '1234567890123456800'],
      ['5000000000000000000000', '5e+21'],
      ['1e21', '1e+21'],
      ['1.5e300', '1.5e+300'],
      ['12345678901234567.5', '12345678901234568'],
      ['"1234567890123456789"', '1234567890123456789'],
      ['", 1234567890123456789"', ', 1234567890123456789'],
      ['[1,"a",null]', '[1,"a",null]'],
    ];
    for (const [json, text] of values) expect(keyOf('event.data.n', `{"n":${json}}`), json).to.equal(text);
    expect(keyOf('[event.data.n, 1]', '{"n":1}')).to.equal('[1,"1"]');
  });
});

function keyOf(key: string, data: string): string {
  const envelope = { internalId: 'e', receivedAt: 1, requestId: 'r', index: 0, payload: `{"name":"x","data":${data}}` };
  return keyTextOf(compile(key).valueOf({ event: triggerEventOf(recordOf(envelope), 'api') }).value);
}

/** Whether the text is that of a double, as before. */
function isDoubleText(integer: bigint): boolean {
  return BigInt(Number(integer)) === integer && String(Number(integer)).includes('e');
}
