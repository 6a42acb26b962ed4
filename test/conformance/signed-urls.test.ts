import { expect } from 'chai';
import { signUrl } from '../../src/functions/signing.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  url: string;
  body: string;
  header: string;
  url_header: string | null;
  keys: string[];
  flaw: string[] | null;
}

const FIELDS = { url: true, body: true, header: true, url_header: true, keys: true, flaw: true } as const;

describe('The service conforms: signed-urls', () => {
  eachCase<Case>('signed-urls', FIELDS, ({ url, body, header, url_header, keys, flaw }) => {
    const made = keys.map((key) => signUrl(`https://shop.example${url}`, body, header, key));
    expect(made.includes(String(url_header).toLowerCase())).to.equal(flaw === null);
  });
});
