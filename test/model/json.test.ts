import { expect } from 'chai';
import fc from 'fast-check';
import { isShallow, MAX_DEPTH, parseExact, parseStored } from '../../src/model/values/json.ts';

describe('parseExact', () => {
  it('round-trips integers and fractions that a double cannot represent', () => {
    const text = '{"id":12345678901234567890,"price":0.12345678901234567891,"list":[1e400,-0.00000000000000001]}';
    expect(JSON.stringify(parseExact(text))).to.equal(text);
  });

  it('parses everything else exactly like JSON.parse', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.stringify(parseExact(text))).to.equal(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('preserves integers of any size', () => {
    fc.assert(
      fc.property(fc.bigInt(), (n) => {
        expect(JSON.stringify(parseExact(`[${n}]`))).to.equal(`[${n}]`);
      }),
    );
  });

  it('rejects invalid JSON with the error of JSON.parse about the original text', () => {
    for (const text of [
      '[12345678901234567890',
      '{12345678901234567890:1}',
      '{12345678901234567890 \n:1}',
      '[1e400,]',
      '01e400',
      '-',
      '[1.2.3, 1e400]',
      '1e400 1',
      '"12345678901234567890',
      '[0012345678901234567890]',
      '[--12345678901234567890]',
      '[1e999e9]',
    ]) {
      const words = (parse: (text: string) => unknown) => {
        try {
          return JSON.stringify(parse(text));
        } catch (error) {
          return (error as Error).message;
        }
      };
      expect(words(parseExact), text).to.equal(words(JSON.parse));
    }
  });

  it('rejects too many numbers that a double cannot represent', () => {
    const text = (count: number) => `[${Array(count).fill('1e400').join(',')}]`;
    expect(JSON.stringify(parseExact(text(20_000)))).to.equal(text(20_000));
    expect(() => parseExact(text(20_001))).to.throw(SyntaxError, 'more than 20000 numbers');
  });

  it('parses stored text with too many such numbers; the rest become doubles', () => {
    const [exact, rounded] = ['12345678901234567890', '12345678901234567000'];
    const stored = parseStored(`[${Array(20_001).fill(exact).join(',')}]`) as unknown[];
    expect(JSON.stringify(stored.slice(-2))).to.equal(`[${exact},${rounded}]`);
  });

  it('preserves numbers at any position, and leaves similar strings unchanged', () => {
    const value = fc.letrec((tie) => ({
      text: fc.oneof(
        fc.constantFrom('12345678901234567890', '1e400', '-1E-400', '0', '-7', '1.5', 'true', '{}', '[]'),
        fc.string().map((item) => JSON.stringify(item)),
        fc.constantFrom('"12345678901234567890"', '"\\"1e400"', '"__proto__"'),
        fc.array(tie('text') as fc.Arbitrary<string>, { maxLength: 4 }).map((all) => `[${all.join(' , ')}]`),
        fc
          .uniqueArray(fc.constantFrom('a', '__proto__', '12345678901234567890', 'b'), { maxLength: 3 })
          .chain((keys) =>
            fc
              .tuple(...keys.map(() => tie('text') as fc.Arbitrary<string>))
              .map((all) => `{${all.map((item, i) => `${JSON.stringify(keys[i])}:${item}`).join(',')}}`),
          ),
      ),
    })).text as fc.Arbitrary<string>;
    const inOrder = (text: string) => text.replace(/ , /g, ',');
    fc.assert(
      fc.property(value, (text) => {
        // Numeric keys come first, as in any object.
        fc.pre(!text.includes('{"a') || !text.includes('"12345678901234567890":'));
        expect(JSON.stringify(parseExact(text))).to.equal(inOrder(text));
      }),
    );
  });

  it('detects nesting that serializers cannot handle', () => {
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

  it('does not count brackets in strings or sequences as nesting', () => {
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

  it('checks the value if the text has duplicate keys: the last one counts', () => {
    const text = `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)},"a":1}`;
    expect(isShallow(JSON.parse(text), text)).to.equal(true);
  });
});
