import { expect } from 'chai';
import { canonical } from '../../../clients/typescript/src/canonical.ts';
import { eachCase } from '../../conformance/cases.ts';

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
