import { expect } from 'chai';
import { eachCase, readTopic } from '../../../../test/conformance/cases.ts';
import * as statements from '../../src/postgres/statements.ts';

interface Case {
  title: string;
  name: string;
  parameters?: string[];
  sql: string | string[];
}

const { CHANNEL, SCHEMA, ...own } = statements;

describe('TypeScript conforms: postgres', () => {
  eachCase<Case>('postgres', { name: true, parameters: 'for people', sql: true }, ({ name, sql }) => {
    const text = [sql].flat().join('\n');
    if (name === 'schema') expect(SCHEMA).to.equal(text);
    else expect(own).to.have.property(name.toUpperCase(), text);
  });

  it('has no other statements', () => {
    const known = readTopic<Case>('postgres').cases.map(({ name }) => name.toUpperCase());
    expect(known).to.include.members(Object.keys(own));
    expect(readTopic('postgres').about).to.contain(CHANNEL);
  });
});
