import { expect } from 'chai';
import type { AppFunction, Trigger } from '../../src/model/apps/app.ts';
import { TriggerTable } from '../../src/model/events/triggers.ts';
import { compile } from '../../src/model/expressions/expression.ts';

const fn = (id: string, ...triggers: Trigger[]): AppFunction => ({
  id,
  name: id,
  app: 'app',
  url: 'http://127.0.0.1/',
  dialect: 'service',
  retries: 4,
  triggers,
  cancel: [],
  archived: false,
  config: {},
});

const matched = (table: TriggerTable, name: string, data: unknown = {}) =>
  [...table.match(name, () => ({ name, data }))].flatMap((fn) => fn?.id ?? []);

describe('Triggers', () => {
  it('match an event by its exact name', () => {
    const table = new TriggerTable([fn('paid', { event: 'order/paid' }), fn('sent', { event: 'order/sent' })]);
    expect(matched(table, 'order/paid')).to.deep.equal(['paid']);
    expect(matched(table, 'order/paid.late')).to.deep.equal([]);
  });

  it('match every name with the prefix before /* or .*', () => {
    const table = new TriggerTable([fn('slash', { event: 'order/*' }), fn('dot', { event: 'order/item.*' })]);
    expect(matched(table, 'order/paid')).to.deep.equal(['slash']);
    expect(matched(table, 'order/item.added')).to.deep.equal(['slash', 'dot']);
    expect(matched(table, 'orders/paid')).to.deep.equal([]);
    expect(matched(table, 'order')).to.deep.equal([]);
  });

  it('return a function once, even if several of its triggers match', () => {
    const table = new TriggerTable([fn('both', { event: 'order/paid' }, { event: 'order/*' })]);
    expect(matched(table, 'order/paid')).to.deep.equal(['both']);
  });

  it('read the event only for expressions', () => {
    const table = new TriggerTable([
      fn('any', { event: 'order/paid' }),
      fn('big', { event: 'order/paid', expression: 'event.data.total > 10' }),
    ]);
    expect(matched(table, 'order/paid', { total: 11 })).to.deep.equal(['any', 'big']);
    expect(matched(table, 'order/paid', { total: 10 })).to.deep.equal(['any']);
    const plain = new TriggerTable([fn('any', { event: 'order/paid' })]);
    const asking = plain.match('order/paid', () => {
      throw new Error('was asked');
    });
    expect([...asking]).to.have.length(1);
  });

  it('of an archived function do not match, but the function is found by ID', () => {
    const table = new TriggerTable([{ ...fn('old', { event: 'order/paid' }), archived: true }]);
    expect(matched(table, 'order/paid')).to.deep.equal([]);
    expect(table.find('old')?.id).to.equal('old');
  });

  it('list the functions of an app, including archived ones', () => {
    const [one, two, other] = [fn('one'), { ...fn('two'), archived: true }, { ...fn('other'), app: 'another' }];
    const table = new TriggerTable([one, other, two]);
    expect(table.idsOf('app')).to.deep.equal(['one', 'two']);
    expect(table.idsOf('nobody')).to.deep.equal([]);
  });
});

describe('Trigger expressions', () => {
  const met = (source: string, data: unknown) =>
    compile(source).evaluate({ event: { name: 'x', data } }).result === 'met';

  it('compare and compute with integers and fractions', () => {
    expect(met('event.data.total > 10 && event.data.total < 11.5', { total: 11 })).to.equal(true);
    expect(met('event.data.n % 2 == 1', { n: 3 })).to.equal(true);
    expect(met('event.data.n + 1 > 3', { n: 3 })).to.equal(true);
  });

  it('with a missing field are not met', () => {
    expect(met('event.data.missing > 1', {})).to.equal(false);
    expect(met('event.data.a.b == "c"', { a: null })).to.equal(false);
  });

  it('that are not CEL or use unknown variables are rejected', () => {
    for (const source of ['event.data.total >', 'total > 10', '1 - "a"']) {
      expect(() => compile(source), source).to.throw();
    }
  });
});
