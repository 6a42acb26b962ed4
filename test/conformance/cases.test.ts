import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { readTopic, topics } from './cases.ts';

const SUITES = ['test/conformance', 'clients/typescript/test/conformance'];

describe('Conformance cases', () => {
  for (const topic of topics()) {
    it(`${topic}: have the topic of their file and unique titles`, () => {
      const { about, cases, ...rest } = readTopic<{ title: string }>(topic);
      expect(rest).to.deep.equal({ topic });
      expect(about).to.be.a('string').and.match(/\S/);
      expect(cases).not.to.have.length(0);
      for (const { title } of cases) expect(title).to.be.a('string').and.match(/\S/);
      expect(new Set(cases.map(({ title }) => title)).size).to.equal(cases.length);
    });

    for (const suite of SUITES) {
      it(`${topic}: are run by ${suite}`, () => {
        expect(existsSync(resolve(import.meta.dirname, '../..', suite, `${topic}.test.ts`))).to.equal(true);
      });
    }
  }
});
