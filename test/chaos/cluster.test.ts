import { expect } from 'chai';
import { runChaos } from './run-chaos.ts';

/** Two minutes of faults, and the rest for a busy machine. */
const MOST_MS = 600_000;
/** Each once: what takes longer, and what hits web and worker, is in the long form. */
const FAULTS = ['kill-primary', 'restart-primary', 'stop-primary', 'planned-failover', 'rebalance'];
/** What they take on an idle machine, and the time that a busy one has for all of them. */
const [MINUTES, AT_MOST] = ['0.5', '5'];

describe('scripts/chaos --cluster --short', () => {
  it('loses, duplicates and repeats nothing while primaries fail and hash slots move', async function () {
    this.timeout(MOST_MS);
    // Production mode too is tested so.
    const form = ['--cluster', '--without-archive', '--short', '--quiet'];
    const time = ['--minutes', MINUTES, '--at-most', AT_MOST];
    const { faults } = await runChaos([...form, '--only', FAULTS.join(), ...time]);
    expect(Object.keys(faults)).to.be.an('array').that.is.not.empty;
  });
});
