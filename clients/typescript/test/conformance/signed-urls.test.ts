import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { findUrlFlaw, targetOf } from '../../src/signature.ts';

interface Case {
  title: string;
  url: string;
  body: string;
  header: string;
  url_header: string | null;
  keys: [string, ...string[]];
  flaw: string[] | null;
}

const FIELDS = { url: true, body: true, header: true, url_header: true, keys: true, flaw: true } as const;

describe('TypeScript conforms: signed-urls', () => {
  eachCase<Case>('signed-urls', FIELDS, ({ url, body, header, url_header, keys, flaw }) => {
    for (const raw of [body, Buffer.from(body)]) {
      const found = findUrlFlaw(url_header ?? undefined, header, targetOf(url), raw, keys);
      if (flaw === null) expect(found).to.equal(undefined);
      else for (const word of flaw) expect(found).to.include(word);
    }
  });
});
