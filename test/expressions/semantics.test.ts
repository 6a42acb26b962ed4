import { expect } from 'chai';
import fc from 'fast-check';
import { compile, compileWait, EVALUATION_UNITS } from '../../src/model/expressions/expression.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const EVENT = {
  name: 'order/paid',
  id: 'A1',
  ts: NOW - 60_000,
  user: {},
  v: null,
  data: {
    total: 5,
    price: 9.1,
    name: 'Ada',
    tags: ['a', 'b'],
    nothing: null,
    nested: { k: 1, list: [1, 'x', null] },
    yes: true,
    empty: '',
    at: '2020-01-01T12:00:00',
    encoded: Buffer.from('{"nested":{"data":"yea"}}').toString('base64'),
  },
};

describe('Expressions', () => {
  const tables: Record<string, { met: string[]; not: string[] }> = {
    'take a missing field for null': {
      met: [
        'event.data.missing != "x"',
        'event.data.missing == null',
        'event.data.nothing == null',
        'event.data.a.b.c == null && event.data.total == 5',
        'event.data.nested.missing != event.data.total',
        'event.data["missing"] == null',
        'event.data.tags[7] == null',
        'event.data.name.first == null',
        'event.user.email == null',
        'event.v == null',
      ],
      not: ['event.data.missing == "x"', 'event.data.issue.field == "another"', 'event.data.missing == 0'],
    },
    'order null before everything else': {
      met: [
        'event.data.missing < 5',
        'event.data.missing < "a"',
        'event.data.total > event.data.missing',
        'event.data.total > null && event.data.price > null',
        'event.data.missing <= event.data.nothing',
      ],
      not: ['null > 0', 'event.data.missing > 5', 'event.data.price <= null', 'event.data.missing < null'],
    },
    'take any value as a condition': {
      met: [
        'event.data.missing ? false : true',
        'event.data.name ? event.data.total == 5 : false',
        '!event.data.missing && !event.data.empty',
        'event.data.missing || event.data.total > 1',
        '(event.data.missing && event.data.name) == null',
        'event.data.total > "a" || event.data.yes',
      ],
      not: [
        'event.data.missing && true',
        'event.data.name || event.data.missing',
        'event.data.missing || event.data.nothing',
        'event.data.total > "a" || event.data.missing',
        'event.data.total > "a" && event.data.yes',
      ],
    },
    'call functions on missing fields': {
      met: [
        'size(event.data.missing) == 0',
        'event.data.missing in ["a"] == false',
        'lowercase(event.data.missing) == null',
        'has(event.data.nothing) && !has(event.data.missing) && !has(event.data.a.b.c)',
        'string(event.data.missing) == ""',
      ],
      not: [
        'size(event.data.missing) > 0',
        'event.data.missing.exists(x, x == "a")',
        'event.data.missing.all(x, true)',
        'event.data.missing.contains("a")',
        'event.data.name.contains(event.data.missing)',
        'event.data.missing.matches("^A")',
        '"a" in event.data.missing',
        'int(event.data.missing) >= 400',
        'date(event.data.missing) > now()',
      ],
    },
    'add anything to a text': {
      met: [
        'event.data.total + "a" == "5a"',
        '"a" + 5 + 1.5 == "a51.5"',
        'event.data.name + event.data.missing == "Ada"',
        'event.data.name + "-" + event.data.price + "-" + event.data.yes == "Ada-9.1-true"',
        '"" + event.data.nested.list == "[1 x <nil>]"',
        '"" + event.data.nested == "map[k:1 list:[1 x <nil>]]"',
      ],
      not: ['event.data.total + event.data.missing == 5', 'event.data.total + event.data.yes == 6'],
    },
    'have functions for texts, times and encodings': {
      met: [
        'uppercase(event.data.name) == "ADA" && lowercase(event.data.name) == "ada"',
        'b64decode("aGkgdGhlcmUh") == "hi there!"',
        'json_parse(b64decode(event.data.encoded)).nested.data == "yea"',
        "date(event.data.at) + duration('6h35m10s') == date('2020-01-01T18:35:10')",
        "date('2026-01-15T13:00:00+01:00') == now()",
        "date('2026-01-15') < now() && now() == date(1768478400) && now() == date(1768478400000)",
        "now_minus('1h') == date('2026-01-15T11:00:00Z') && now_plus(duration('1h')) > now()",
        "event.ts > now_minus('5m') && event.ts < now()",
      ],
      not: [
        'b64decode("no base64!") == ""',
        'json_parse("{") == null',
        'date("yesterday") < now()',
        'now_minus("soon") < now()',
        'lowercase(event.data.total) == "5"',
      ],
    },
  };
  for (const [title, { met, not }] of Object.entries(tables)) {
    it(title, () => {
      const result = (source: string) => compile(source).evaluate({ event: EVENT }, EVALUATION_UNITS, NOW).result;
      for (const source of met) expect(result(source), source).to.equal('met');
      for (const source of not) expect(result(source), source).to.equal('not_met');
    });
  }

  it('never match two events by a field that both lack, however they are written', () => {
    const caused = { data: { id: 'A1', nothing: null, list: [null], user: {} } };
    const result = (source: string, data: object) =>
      compileWait(source).evaluate({ event: caused, async: { data } }).result;
    const lacking = [
      'async.data.missing == event.data.missing',
      'event.data.missing == async.data.missing',
      'event.data["missing"] == async.data["missing"]',
      'async.data.other.id == event.data.user.id',
      'async.data.list[3] == event.data.list[3]',
      'async.data.missing == event.data.missing || async.data.other == event.data.other',
      'lowercase(async.data.missing) == lowercase(event.data.missing)',
      'async.data.id == event.data.id && async.data.missing == event.data.missing',
      '!(async.data.missing != event.data.missing)',
      'async.data.missing in [event.data.missing]',
      'event.data.missing in [event.data.id, async.data.missing]',
      '[async.data.missing] in [[event.data.missing]]',
      '[async.data.id, async.data.missing] == [event.data.id, event.data.missing]',
      '{"id": async.data.missing} == {"id": event.data.missing}',
      '{"id": async.data.missing}.id == event.data.missing',
      '"order-" + async.data.missing == "order-" + event.data.missing',
      'string(async.data.missing) == string(event.data.missing)',
      'size(async.data.missing) == size(event.data.missing)',
      'async.data.missing <= event.data.missing',
      '!(async.data.missing > event.data.missing)',
      '[async.data.missing].exists(a, a == event.data.missing)',
      '[async.data.user, async.data.user].exists(a, a.id == event.data.missing)',
      '[event.data.user].map(user, user.id)[0] == async.data.missing',
      'async.data.missing in [event.data.user].map(user, user.id)',
    ];
    for (const source of lacking) expect(result(source, { id: 'A1' }), source).to.equal('not_met');
    const met = [
      'async.data.missing != event.data.missing',
      'async.data.missing == event.data.nothing',
      'async.data.nothing == event.data.missing',
      'async.data.nothing == event.data.nothing',
      'async.data.list[0] == event.data.list[0]',
      'async.data.missing == null && event.data.missing == null',
      'async.data.id == event.data.id',
      '!(async.data.missing in [event.data.missing])',
      'async.data.id in ["x", event.data.id]',
      'async.data.nothing in [event.data.missing]',
      'async.data.missing in event.data.list',
      'has(async.data.missing) == has(event.data.missing)',
      '(async.data.missing ? async.data.missing : "none") == (event.data.missing ? event.data.missing : "none")',
    ];
    for (const source of met) expect(result(source, { id: 'A1', nothing: null, list: [null] }), source).to.equal('met');
  });

  it('match two events by a field only if both have it, whatever the comparison wraps it in', () => {
    fc.assert(
      fc.property(comparisons, fc.boolean(), (source, isThere) => {
        const data = { user: isThere ? { id: 'A1' } : {} };
        const { result } = compileWait(source).evaluate({ event: { data }, async: { data } });
        expect(result, source).to.equal(isThere ? 'met' : 'not_met');
      }),
      { numRuns: 500 },
    );
  });

  const LONG = {
    order: 1234567890123456789n,
    next: 1234567890123456790n,
    rounded: 1234567890123456800,
    text: '1234567890123456789',
    small: 100,
    orders: [1234567890123456789n],
    nested: { order: 1234567890123456789n },
    json: '{"order":1234567890123456789}',
  };

  it('compare integers that a double cannot hold digit by digit, with values of any type', () => {
    const met = [
      'event.data.order == event.data.order',
      'event.data.order == 1234567890123456789 && 1234567890123456789 == event.data.order',
      'event.data.order != event.data.next && event.data.next != event.data.order',
      'event.data.order != event.data.rounded && event.data.rounded != event.data.order',
      'event.data.order < event.data.next && event.data.next >= event.data.order',
      'event.data.order > event.data.rounded && event.data.rounded < event.data.order',
      'event.data.order > event.data.small && event.data.order > 1.5 && event.data.order > null',
      'event.data.order in event.data.orders && !(event.data.next in event.data.orders)',
      'event.data.order in [1, 1234567890123456789]',
      'event.data.orders == [event.data.order] && event.data.orders != [event.data.next]',
      'event.data.nested == {"order": event.data.order} && event.data.nested != {"order": event.data.next}',
      'event.data.orders.exists(order, order == event.data.order)',
      'json_parse(event.data.json).order == event.data.order',
      'event.data.order != event.data.text && event.data.text != event.data.order',
      'event.data.order != event.data.missing && event.data.order != event.data.orders',
      'string(event.data.order) == event.data.text && "n" + event.data.order == "n1234567890123456789"',
      'event.data.order > event.data.text || event.data.order == 1234567890123456789',
    ];
    for (const source of met)
      expect(compile(source).evaluate({ event: { data: LONG } }).result, source).to.equal('met');
    for (const source of ['event.data.order > event.data.text', 'size(event.data.order) > 0'])
      expect(compile(source).evaluate({ event: { data: LONG } }).result, source).to.equal('not_met');
  });

  it('compute with them as with all numbers of JSON, and with int() as with integers', () => {
    const computed = (source: string) => compile(source).valueOf({ event: { data: LONG } }).value;
    expect(computed('event.data.order / 1000000000000000000')).to.be.closeTo(1.23456789, 1e-8);
    expect(computed('event.data.order + 1')).to.equal(1234567890123456800);
    expect(computed('1 + event.data.order')).to.equal(1234567890123456800);
    expect(computed('event.data.order - event.data.small')).to.equal(1234567890123456800 - 100);
    expect(computed('[event.data.order].map(order, order * 2)')).to.deep.equal([1234567890123456800 * 2]);
    expect(computed('type(event.data.order) == type(event.data.small)')).to.equal(true);
    expect(computed('int(event.data.order) + 1')).to.equal(1234567890123456790n);
    expect(computed('int(event.data.order) % 16')).to.equal(5n);
    expect(computed('double(event.data.order)')).to.equal(1234567890123456800);
  });

  it('end within their fuel, with the same result each time, for any combination', () => {
    fc.assert(
      fc.property(expressions.filter(isWithinBounds), fc.jsonValue({ maxDepth: 3 }), (source, data) => {
        const event = { ...EVENT, data: { ...EVENT.data, any: data } };
        const first = compile(source).evaluate({ event }, EVALUATION_UNITS, NOW);
        expect(first.cost).to.be.at.most(EVALUATION_UNITS);
        expect(compile(source).evaluate({ event }, EVALUATION_UNITS, NOW)).to.deep.equal(first);
      }),
      { numRuns: 500 },
    );
  });

  it('follow the rules of logic on fields of any kind', () => {
    fc.assert(
      fc.property(operands, operands, (a, b) => {
        const met = (source: string) => compile(source).evaluate({ event: EVENT }).result === 'met';
        expect(met(`(${a}) == (${b})`), `${a} == ${b}`).to.equal(met(`(${b}) == (${a})`));
        expect(met(`(${a}) != (${b})`), `${a} != ${b}`).to.equal(!met(`(${a}) == (${b})`));
        if (met(`(${a}) < (${b})`)) expect(met(`(${b}) > (${a}) && !((${b}) <= (${a}))`), `${a} < ${b}`).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });
});

type Wrap = (field: string) => string;
type Compare = (a: string, b: string) => string;

/** `null` stays `null`. */
const fieldWraps: Wrap[] = [
  (field) => field,
  (field) => `lowercase(${field})`,
  (field) => `[${field}][0]`,
  (field) => `{"k": ${field}}.k`,
  (field) => `(true ? ${field} : "x")`,
  (field) => `[${field}].map(one, one)[0]`,
];
const valueWraps: Wrap[] = [
  (field) => `string(${field})`,
  (field) => `size(${field})`,
  (field) => `("a-" + ${field} + "-b")`,
  (field) => `size("a" + ${field})`,
];
const loopCompares: Compare[] = [
  (a, b) => `[${a}].exists(one, one == ${b})`,
  (a, b) => `[${a}].all(one, [${b}].exists(other, one == other))`,
  (a, b) => `${a} in [${b}].map(one, one)`,
];
const compares: Compare[] = [
  (a, b) => `${a} == ${b}`,
  (a, b) => `!(${a} != ${b})`,
  (a, b) => `${a} in [${b}]`,
  (a, b) => `${a} in ["x", ${b}]`,
  (a, b) => `${a} >= ${b}`,
  (a, b) => `${a} <= ${b}`,
  (a, b) => `!(${a} < ${b})`,
  (a, b) => `[${a}, 1] == [${b}, 1]`,
  (a, b) => `{"k": [${a}]} == {"k": [${b}]}`,
  (a, b) => `[${a}] in [["y"], [${b}]]`,
  (a, b) => `(${a} == ${b} || false) && true`,
  (a, b) => `${a} == ${b} ? true : false`,
];
const combined = (wraps: Wrap[], all: Compare[]) => fc.tuple(fc.constantFrom(...wraps), fc.constantFrom(...all));
const comparisons = fc
  .tuple(fc.oneof(combined([...fieldWraps, ...valueWraps], compares), combined(fieldWraps, loopCompares)), fc.boolean())
  .map(([[wrap, compare], isSwapped]) => {
    const [a, b] = [wrap('async.data.user.id'), wrap('event.data.user.id')];
    return isSwapped ? compare(b, a) : compare(a, b);
  });

const fields = [
  'total',
  'price',
  'name',
  'tags',
  'nothing',
  'missing',
  'nested.k',
  'nested.list',
  'missing.deep',
  'yes',
  'any',
];
const operands = fc.constantFrom(...fields.map((field) => `event.data.${field}`));

const { expressions } = fc.letrec<{ expressions: string; values: string }>((tie) => ({
  values: fc.oneof(
    { depthSize: 'small' },
    operands,
    fc.constantFrom('dyn(1)', 'dyn("a")', 'dyn(null)', 'dyn(1.5)', 'dyn([1, "a"])', 'dyn(now())'),
    fc.tuple(tie('values'), tie('values')).map(([a, b]) => `(${a} + ${b})`),
    fc
      .tuple(
        fc.constantFrom('size', 'lowercase', 'date', 'b64decode', 'json_parse', 'string', 'int', 'now_minus'),
        tie('values'),
      )
      .map(([name, of]) => `dyn(${name}(${of}))`),
    fc.tuple(tie('expressions'), tie('values'), tie('values')).map(([c, a, b]) => `dyn(${c} ? ${a} : ${b})`),
  ),
  expressions: fc.oneof(
    { depthSize: 'small' },
    fc
      .tuple(tie('values'), fc.constantFrom('==', '!=', '<', '<=', '>', '>=', 'in'), tie('values'))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc
      .tuple(tie('expressions'), fc.constantFrom('&&', '||'), tie('expressions'))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    tie('expressions').map((item) => `!${item}`),
    fc
      .tuple(tie('values'), fc.constantFrom('all', 'exists', 'exists_one'), tie('values'))
      .map(([list, loop, value]) => `${list}.${loop}(x, x == ${value})`),
  ),
}));

/** Few of the expressions are larger than expressions may be. */
function isWithinBounds(source: string): boolean {
  try {
    compile(source);
    return true;
  } catch (error) {
    if (/at most \d+ are allowed$/.test((error as Error).message)) return false;
    throw error;
  }
}
