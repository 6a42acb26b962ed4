import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { canonical } from '../../src/canonical.ts';

interface Case {
  title: string;
  json: string;
  canonical: string;
}

describe('TypeScript conforms: canonical JSON', () => {
  eachCase<Case>('canonical-json', { json: true, canonical: true }, (given) => {
    expect(canonical(JSON.parse(given.json))).to.equal(given.canonical);
  });
});
