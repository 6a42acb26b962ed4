import { expect } from 'chai';
import { completionsFor, type Known } from '../../dashboard/src/features/search/completions.ts';
import { isExpression } from '../../dashboard/src/lib/is-expression.ts';

const KNOWN: Known = {
  fields: [
    { path: 'name', type: 'text', detail: 'text' },
    { path: 'ts', type: 'time', detail: 'time' },
    { path: 'data', type: 'json', detail: 'json' },
    { path: 'data.customer.id', type: 'text', detail: '"c_1"' },
  ],
  eventNames: ['order/placed'],
  functionIds: ['shop-charge'],
};

describe('Completions of a search', () => {
  const labels = (before: string, kind: 'events' | 'runs' = 'events') =>
    completionsFor(kind, KNOWN, before, '')?.options.map(({ label }) => label) ?? [];

  it('are fields where a condition begins', () => {
    for (const before of ['', 'da', '(', '!', 'ts > 5 && ', 'data.customer.id == "c_1" || (na']) {
      expect(labels(before), before).to.include.members(['name', 'data.customer.id', 'has(…)']);
    }
  });

  it('are operators after a field, and && and || after a comparison', () => {
    expect(labels('data.customer.id ')).to.include.members(['==', 'in', '&&']);
    expect(labels('data.customer.id =')).to.include('==');
    expect(labels('data.customer.id == "c_1" ')).to.deep.equal(['&&', '||']);
    expect(labels('name.startsWith("order/") ')).to.deep.equal(['&&', '||']);
    expect(labels('data.total > ')).to.deep.equal(['true', 'false', 'null']);
  });

  it('are string functions after the period of a string', () => {
    expect(labels('data.customer.id.')).to.include('data.customer.id.startsWith');
    expect(labels('ts.').filter((label) => label.startsWith('ts.'))).to.deep.equal([]);
  });

  it('are known values in a compared string, and nothing in other strings', () => {
    expect(labels('name == "')).to.deep.equal(['order/placed']);
    expect(labels('name in ["order/shipped", "')).to.deep.equal(['order/placed']);
    expect(labels('function_id == "', 'runs')).to.deep.equal(['shop-charge']);
    expect(labels('event.name == "o', 'runs')).to.deep.equal(['order/placed']);
    expect(labels('status == "', 'runs')).to.include('Failed');
    expect(labels('data.customer.id == "')).to.deep.equal([]);
    for (const before of ['name.startsWith("', 'name == "order/placed"', 'data.total > 10', 'has(data.paid)']) {
      expect(labels(before), before).to.deep.equal([]);
    }
  });

  it('replace the word before the cursor, and close an open string', () => {
    expect(completionsFor('events', KNOWN, 'ts > 5 && data.cu', '')?.from).to.equal(10);
    expect(completionsFor('events', KNOWN, 'name == "or', '')).to.deep.equal({
      from: 9,
      options: [{ label: 'order/placed', insert: 'order/placed"' }],
    });
    expect(completionsFor('events', KNOWN, 'name == "or', '"')?.options[0]?.insert).to.equal('order/placed');
  });
});

describe('The search box', () => {
  it('treats text with an operator, a quote or a bracket as an expression', () => {
    for (const text of ['data.total > 10', 'has(data.customer)', 'name == "x"', 'data.paid', '!data.paid']) {
      expect(isExpression(text), text).to.equal(true);
    }
    for (const text of [
      '01KE7',
      'order/*',
      'order-1',
      'the card was declined',
      'not found in cache',
      'shop.example.com',
    ]) {
      expect(isExpression(text), text).to.equal(false);
    }
  });
});
