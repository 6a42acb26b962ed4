import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { hashStepId, numberRepeats } from '../../src/steps/ids.ts';

interface Case {
  title: string;
  ids: string[];
  names: string[];
  hashes: string[];
}

describe('TypeScript conforms: step IDs', () => {
  eachCase<Case>('step-ids', { ids: true, names: true, hashes: true }, ({ ids, names, hashes }) => {
    const nameOf = numberRepeats();
    const named = ids.map(nameOf);
    expect(named).to.deep.equal(names);
    expect(named.map(hashStepId)).to.deep.equal(hashes);
  });
});
