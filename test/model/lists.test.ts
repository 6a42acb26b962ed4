import { expect } from 'chai';
import fc from 'fast-check';
import { matcherOf } from '../../src/model/auth/allow-lists.ts';

/** Few letters, so that many names are prefixes of others. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é', '\ud83d'), maxLength: 6 });

describe('Lists of event names', () => {
  it('match exact names and prefixes before a star', () => {
    const items = fc.array(fc.tuple(text, fc.constantFrom('', '*')), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(items, text, (list, name) => {
        const expected = list.some(([item, star]) => (star ? name.startsWith(item) : item === name));
        const allows = (mode: 'allow' | 'deny') =>
          matcherOf({ eventNames: { mode, items: list.map((parts) => parts.join('')) } }).allowsName(name);
        expect(allows('allow')).to.equal(expected);
        expect(allows('deny')).to.equal(!expected);
      }),
    );
  });
});
