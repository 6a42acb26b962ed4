import { expect } from 'chai';
import { LENGTH_MAX } from '../../src/model/search/parse.ts';
import { payloadCondition } from '../../src/model/search/payload-condition.ts';

describe('The condition that finds a text in payloads', () => {
  const of = (data: unknown, text = 'A7') => payloadCondition([{ data }], text);

  it('compares each field that has texts, at any depth', () => {
    expect(of({ order: { number: 'A1' }, note: 'x', paid: true })).to.equal(
      'data.order.number == "A7" || data.note == "A7"',
    );
  });

  it('compares numbers only with a text that is one', () => {
    expect(of({ total: 5, name: 'x' }, '42')).to.equal('data.total == 42 || data.name == "42"');
    expect(of({ total: 5 })).to.equal(undefined);
  });

  it('quotes the text', () => {
    expect(of({ note: 'x' }, 'a" || true || "')).to.equal('data.note == "a\\" || true || \\""');
  });

  it('leaves out fields that no condition can name, and is never longer than a search may be', () => {
    expect(of({ ['x'.repeat(300)]: 'y' })).to.equal(undefined);
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`field_${at}_${'x'.repeat(60)}`, 'y']));
    expect((of(many, 'z'.repeat(400)) ?? '').length).to.be.within(1, LENGTH_MAX);
  });

  it('there is none for events without fields', () => {
    expect(of({})).to.equal(undefined);
    expect(of(null)).to.equal(undefined);
  });
});
