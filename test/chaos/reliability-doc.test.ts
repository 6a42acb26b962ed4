import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FAULTS, FAULTS_ON_CLUSTER } from '../../chaos/faults/faults.ts';
import { exceededLimits } from '../../chaos/results.ts';
import { fillBlocks, PAGE, readResults, resultsFilesOf } from '../../chaos/update-docs.ts';

describe('docs/reliability.md', () => {
  const page = readFileSync(PAGE, 'utf8');

  it('matches the results files that it names', () => {
    for (const name of resultsFilesOf(page)) expect(fillBlocks(page, name, readResults(name))).to.equal(page);
  });

  it('shows runs without exceeded limits', () => {
    for (const name of resultsFilesOf(page)) expect(exceededLimits(readResults(name)), name).to.deep.equal([]);
  });

  it('names every fault', () => {
    for (const { name } of [...FAULTS, ...FAULTS_ON_CLUSTER]) expect(page).to.include(`\`${name}\``);
  });
});
