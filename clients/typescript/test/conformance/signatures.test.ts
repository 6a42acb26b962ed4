import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { findFlaw, hashedKey } from '../../src/signature.ts';

interface Case {
  title: string;
  body: string;
  header: string | null;
  now: number;
  keys: [string, ...string[]];
  flaw: string[] | null;
  bearer: string;
}

const FIELDS = { body: true, header: true, now: true, keys: true, flaw: true, bearer: true } as const;

describe('TypeScript conforms: signatures', () => {
  eachCase<Case>('signatures', FIELDS, ({ body, header, now, keys, flaw, bearer }) => {
    for (const raw of [body, Buffer.from(body)]) {
      const found = findFlaw(header ?? undefined, raw, keys, now * 1_000);
      if (flaw === null) expect(found).to.equal(undefined);
      else for (const word of flaw) expect(found).to.include(word);
    }
    expect(`Bearer ${hashedKey(keys[0])}`).to.equal(bearer);
  });
});
