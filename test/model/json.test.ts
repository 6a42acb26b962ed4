import { expect } from 'chai';
import fc from 'fast-check';
import { isShallow, MAX_DEPTH, parseExact, parseIntegers, parseStored } from '../../src/model/values/json.ts';

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

describe('parseIntegers', () => {
  it('has a bigint for each integer that a double may confuse with another, and else what JSON.parse has', () => {
    const texts: [text: string, value: unknown][] = [
      ['9007199254740991', 9007199254740991],
      ['9007199254740992', 9007199254740992n],
      ['-9007199254740993', -9007199254740993n],
      ['1234567890123456789', 1234567890123456789n],
      ['18446744073709551615', 18446744073709551615n],
      // Exact as a double, whose text says so.
      ['5000000000000000000000', 5e21],
      ['5000000000000000000001', 5000000000000000000001n],
      ['9'.repeat(80), BigInt('9'.repeat(80))],
      ['9'.repeat(81), 1e81],
      ['1234567890123456789.5', 1234567890123456800],
      ['1234567890123456789e0', 1234567890123456800],
      ['0.12345678901234567', Number('0.12345678901234567')],
    ];
    for (const [text, value] of texts) {
      for (const [around, of] of [
        [text, (parsed: unknown) => parsed],
        [`[0, ${text}]`, (parsed: unknown) => (parsed as unknown[])[1]],
        [`{"a":{"b":[${text}]}}`, (parsed: unknown) => (parsed as { a: { b: unknown[] } }).a.b[0]],
      ] as const) {
        expect(of(parseIntegers(around)), around).to.equal(value);
      }
    }
    expect(parseIntegers('{"a":"1234567890123456789","b":", 1234567890123456789"}')).to.deep.equal({
      a: '1234567890123456789',
      b: ', 1234567890123456789',
    });
  });

  it('never confuses two integers of up to 80 digits, wherever they stand', () => {
    const integers = fc.oneof(
      fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }),
      fc.bigInt({ min: -(10n ** 80n) + 1n, max: 10n ** 80n - 1n }),
      fc
        .tuple(fc.integer({ min: 50, max: 64 }), fc.integer({ min: -3, max: 3 }))
        .map(([n, d]) => 2n ** BigInt(n) + BigInt(d)),
    );
    fc.assert(
      fc.property(integers, fc.integer({ min: -2, max: 2 }), fc.string(), (a, distance, before) => {
        const b = a + BigInt(distance);
        const parsed = (integer: bigint) =>
          (parseIntegers(`${JSON.stringify({ before }).slice(0, -1)},"n":${integer}}`) as { n: bigint | number }).n;
        // biome-ignore lint/suspicious/noDoubleEquals: as expressions compare a bigint with a double
        expect(parsed(a) == parsed(b), `${a} and ${b}`).to.equal(a === b);
        expect(parsed(a) < parsed(b), `${a} and ${b}`).to.equal(a < b);
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes little time for numbers of many digits, and for many numbers', () => {
    const many = `[${Array(30_000).fill('1234567890123456800').join()}]`;
    const before = process.cpuUsage();
    expect(parseIntegers(`{"a":${'9'.repeat(500_000)},"b":-${'9'.repeat(300)}}`)).to.deep.equal({
      a: Infinity,
      b: -1e300,
    });
    const parsed = parseIntegers(many) as unknown[];
    expect(parsed[0]).to.equal(1234567890123456800n);
    // Numbers after the first 20,000 are doubles.
    expect(parsed.at(-1)).to.equal(1234567890123456800);
    const { user, system } = process.cpuUsage(before);
    expect(user + system).to.be.below(500_000);
  });
});
