import canonicalize from 'canonicalize';
import { expect } from 'chai';
import fc from 'fast-check';
import { canonical } from '../src/canonical.ts';

describe('Canonical JSON of the TypeScript client', () => {
  it('follows RFC 8785 for every parsed JSON value', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown = JSON.parse(text);
        expect(canonical(value)).to.equal(canonicalize(value));
      }),
    );
  });

  it('sorts keys by UTF-16 code units, at every depth', () => {
    expect(
      canonical(JSON.parse('{"b":[{"d":1,"c":2}],"a":null,"\\ud83d\\ude00":1,"\\ufb33":2,"__proto__":3}')),
    ).to.equal('{"__proto__":3,"a":null,"b":[{"c":2,"d":1}],"\ud83d\ude00":1,"\ufb33":2}');
  });
});
