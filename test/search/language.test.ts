import { expect } from 'chai';
import fc from 'fast-check';
import { matcherOf } from '../../src/model/search/evaluate.ts';
import { isBareText, parseSearch } from '../../src/model/search/parse.ts';
import { SearchError } from '../../src/model/search/search-error.ts';
import { anyCharacter } from '../support/any-character.ts';

const EVENT: Record<string, unknown> = {
  name: 'order/paid',
  internal_id: '01M7XZKCYVNT55JMST64K3A662',
  ts: Date.UTC(2026, 10, 23, 8),
  received_at: Date.UTC(2026, 10, 23, 8),
  data: {
    customer: { id: 'c_1', 'e-mail': 'ada@example.com' },
    total: 120,
    paid: true,
    coupon: null,
    tags: ['new', 'vip'],
    items: [{ sku: 'A1' }],
    in: 1,
  },
};

const isFound = (search: string) => matcherOf(parseSearch(search, 'events'))((name) => EVENT[name]);

function refusal(search: string, kind: 'events' | 'runs' = 'events'): SearchError {
  try {
    parseSearch(search, kind);
  } catch (error) {
    expect(error).to.be.instanceOf(SearchError);
    return error as SearchError;
  }
  throw new Error(`it was accepted: ${search}`);
}

describe('The language of searches', () => {
  for (const search of [
    'data.customer.id == "c_1"',
    '"c_1" == data.customer.id',
    'data.total >= 120 && data.total < 1e3 && 100 < data.total',
    'data.paid',
    'data.coupon == null',
    '!has(data.address) && has(data.coupon)',
    'data.customer["e-mail"].endsWith("@example.com")',
    'data["in"] == 1',
    '"vip" in data.tags',
    'name in ["order/paid", "order/sent"]',
    'data.items[0].sku == "A1"',
    'name.startsWith("order/") && name.contains("paid")',
    'received_at == "2026-11-23T08:00:00Z" && ts > "2026-11-22"',
    'received_at == 1795420800000',
    'data.total != "120"',
    '!(data.missing == 1) && !(data.missing != 1)',
    'data.missing == 1 || true',
  ]) {
    it(`is true: ${search}`, () => expect(isFound(search)).to.equal(true));
  }

  for (const search of [
    'data.missing != 1',
    'data.missing == null',
    'data.total == "120"',
    'data.total > "1"',
    'data.customer == data.customer',
    'data.tags == "vip"',
    'data.customer.id.id == "c_1"',
    'data.tags["0"] == "new"',
    'data.items.sku == "A1"',
    'data.constructor.name == "Object"',
    'has(data.toString)',
    'has(id)',
    'data.coupon < 1',
  ]) {
    it(`is false: ${search}`, () => expect(isFound(search)).to.equal(false));
  }

  const REFUSALS: [search: string, position: number, message: string][] = [
    ['data.total = 1', 11, 'equality is =='],
    ['nmae == "x"', 0, 'did you mean name?'],
    ['data.total == 1 and data.paid', 16, 'write &&, || and !'],
    ['data.in == 1', 5, '["…"]'],
    ['size(data) > 1', 0, 'size(…) is not supported'],
    ['data.a.matches("x")', 6, '.matches(…) is not supported'],
    ['data.a + 1 == 2', 0, 'the operator +'],
    ['name', 0, 'compare it with a value'],
    ['ts > "tomorrow"', 5, 'ts is a time'],
    ['1 == 1', 0, 'both sides are values'],
    ['data[-1] == 1', 5, 'in brackets'],
    ['name.x == 1', 0, 'name has no fields'],
    ['data.a > null', 9, 'compares numbers, texts and times'],
    ['data.a == b"x"', 10, 'this kind of value'],
    ['', 0, 'allowed are'],
  ];
  for (const [search, position, message] of REFUSALS) {
    it(`rejects ${search || 'nothing'} and says where`, () => {
      const error = refusal(search);
      expect(error.message).to.contain(message);
      if (search !== 'data.a.matches("x")' && !search.includes(' and ')) expect(error.position).to.equal(position);
    });
  }

  it('offers the event of a run as event', () => {
    const node = parseSearch('event.data.total > 1 && status == "Failed" && event.name == "x"', 'runs');
    const run: Record<string, unknown> = { status: 'Failed', 'event.name': 'x', 'event.data': { total: 2 } };
    expect(matcherOf(node)((name) => run[name])).to.equal(true);
    expect(refusal('event == 1', 'runs').message).to.contain('name a field');
    expect(refusal('function == "x"', 'runs').message).to.contain('function_id');
  });

  it('recognizes plain text without a condition', () => {
    expect(['c_1', 'order/*', '01M7XZKCYVNT55JMST64K3A662', 'ada@example.com'].every(isBareText)).to.equal(true);
    expect(['a == 1', 'has(data.x)', '"x"', 'a b'].some(isBareText)).to.equal(false);
  });

  describe('limits', () => {
    const HOSTILE: Record<string, string> = {
      length: `name == "${'x'.repeat(5_000)}"`,
      parentheses: `${'('.repeat(1_000)}true${')'.repeat(1_000)}`,
      negations: `${'!'.repeat(2_000)}true`,
      fields: `data${'.a'.repeat(500)} == 1`,
      nodes: Array.from({ length: 200 }, (_, i) => `ts>${i}`).join('||'),
      list: `ts in [${'1,'.repeat(500)}1]`,
      brackets: `data${'[0]'.repeat(500)} == 1`,
    };
    for (const [title, search] of Object.entries(HOSTILE)) {
      it(`rejects too many: ${title}`, () => {
        const before = process.cpuUsage();
        refusal(search);
        const { user, system } = process.cpuUsage(before);
        expect((user + system) / 1_000, 'ms of CPU time').to.be.below(50);
      });
    }

    it('accepts or rejects every text, without failing', () => {
      const piece = fc.oneof(
        fc.constantFrom(
          'data',
          '.a',
          '["b"]',
          '[0]',
          ' == ',
          '"x"',
          '1',
          ' && ',
          ' || ',
          '!',
          '(',
          ')',
          ' in ',
          '[',
          ']',
          'has(',
          '.contains(',
        ),
        fc.string({ unit: anyCharacter, maxLength: 3 }),
      );
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
          const text = pieces.join('');
          try {
            matcherOf(parseSearch(text, 'events'))((name) => EVENT[name]);
          } catch (error) {
            expect(error).to.be.instanceOf(SearchError);
            expect((error as SearchError).position).to.be.within(0, text.length);
          }
        }),
        { numRuns: 2_000 },
      );
    });
  });
});
