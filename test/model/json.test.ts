import { expect } from 'chai';
import fc from 'fast-check';
import { isShallow, MAX_DEPTH, parseExact } from '../../src/model/json.ts';

describe('JSON that keeps every digit', () => {
  it('writes back whole numbers and fractions that a double cannot hold', () => {
    const text = '{"id":12345678901234567890,"price":0.12345678901234567891,"list":[1e400,-0.00000000000000001]}';
    expect(JSON.stringify(parseExact(text))).to.equal(text);
  });

  it('reads everything else exactly as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.stringify(parseExact(text))).to.equal(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('keeps integers of any size', () => {
    fc.assert(
      fc.property(fc.bigInt(), (n) => {
        expect(JSON.stringify(parseExact(`[${n}]`))).to.equal(`[${n}]`);
      }),
    );
  });

  it('tells nesting that later writers could not write', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    for (const [depth, shallow] of [
      [MAX_DEPTH, true],
      [MAX_DEPTH + 1, false],
      [MAX_DEPTH + 2, false],
      [100_000, false],
    ] as const) {
      const text = nested(depth);
      expect(isShallow(JSON.parse(text), text), String(depth)).to.equal(shallow);
      expect(isShallow(JSON.parse(text)), String(depth)).to.equal(shallow);
    }
  });

  it('takes no bracket in a string, nor many side by side, for nesting', () => {
    const many = MAX_DEPTH + 1;
    for (const value of [
      ['['.repeat(many)],
      { [`${'{'.repeat(many)}"\\`]: '}' },
      ['\\', `"${'['.repeat(many)}`, ']'],
      Array.from({ length: many }, () => [{}]),
    ]) {
      expect(isShallow(value, JSON.stringify(value))).to.equal(true);
    }
    const closed = [']'.repeat(many), JSON.parse('['.repeat(many) + ']'.repeat(many))];
    expect(isShallow(closed, JSON.stringify(closed))).to.equal(false);
  });

  it('goes by the value where its text had more: of two fields of one name the last counts', () => {
    const text = `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)},"a":1}`;
    expect(isShallow(JSON.parse(text), text)).to.equal(true);
  });
});
