import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FAULTS } from '../../chaos/faults/faults.ts';
import { violated } from '../../chaos/results.ts';
import { fillBlocks, PAGE, readResults, resultsFileOf } from '../../chaos/update-docs.ts';

describe('docs/reliability.md', () => {
  const page = readFileSync(PAGE, 'utf8');

  it('has the figures of one results file, and no others', () => {
    const name = resultsFileOf(page);
    expect(fillBlocks(page, name, readResults(name))).to.equal(page);
  });

  it('tells of a run in which everything was as promised', () => {
    expect(violated(readResults(resultsFileOf(page)))).to.deep.equal([]);
  });

  it('names every fault', () => {
    for (const { name } of FAULTS) expect(page).to.include(`\`${name}\``);
  });
});
