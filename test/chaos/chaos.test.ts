import { expect } from 'chai';
import { FAULTS } from '../../chaos/faults/faults.ts';
import { runChaos } from './run-chaos.ts';

/** Two minutes of faults, and the rest for a busy machine. */
const MOST_MS = 600_000;
/** --short mounts no disk that can be full. */
const EACH = FAULTS.map(({ name }) => name).filter((name) => name !== 'full-disk');

describe('scripts/chaos --short', () => {
  it('loses, duplicates and repeats nothing while each fault is injected', async function () {
    this.timeout(MOST_MS);
    const { faults, left_out } = await runChaos(['--short', '--quiet']);
    // A busy machine has no time for all.
    const isLate = (name: string) => left_out.includes(`no time was left for ${name}`);
    expect(Object.keys(faults)).to.have.members(EACH.filter((name) => !isLate(name)));
  });
});
