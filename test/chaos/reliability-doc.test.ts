import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FAULTS } from '../../chaos/faults/faults.ts';
import { exceededLimits } from '../../chaos/results.ts';
import { fillBlocks, PAGE, readResults, resultsFileOf } from '../../chaos/update-docs.ts';

describe('docs/reliability.md', () => {
  const page = readFileSync(PAGE, 'utf8');

  it('matches the results file that it names', () => {
    const name = resultsFileOf(page);
    expect(fillBlocks(page, name, readResults(name))).to.equal(page);
  });

  it('shows a run without exceeded limits', () => {
    expect(exceededLimits(readResults(resultsFileOf(page)))).to.deep.equal([]);
  });

  it('names every fault', () => {
    for (const { name } of FAULTS) expect(page).to.include(`\`${name}\``);
  });
});
