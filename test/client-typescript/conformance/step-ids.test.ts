import { expect } from 'chai';
import { hashStepId, numberRepeats } from '../../../clients/typescript/src/steps/ids.ts';
import { eachCase } from '../../conformance/cases.ts';

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
