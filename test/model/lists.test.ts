import { expect } from 'chai';
import fc from 'fast-check';
import { matcherOf } from '../../src/model/auth/allow-lists.ts';

/** Few letters, so that many begin with each other. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é', '\ud83d'), maxLength: 6 });

describe('lists of event names', () => {
  it('take a name that is listed, or begins as one that ends with a star, whatever else is listed', () => {
    const items = fc.array(fc.tuple(text, fc.constantFrom('', '*')), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(items, text, (list, name) => {
        const expected = list.some(([item, star]) => (star ? name.startsWith(item) : item === name));
        const gate = (mode: 'allow' | 'deny') =>
          matcherOf({ eventNames: { mode, items: list.map((parts) => parts.join('')) } }).allowsName(name);
        expect(gate('allow')).to.equal(expected);
        expect(gate('deny')).to.equal(!expected);
      }),
    );
  });
});
