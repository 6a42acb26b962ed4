import { resolve } from 'node:path';
import { expect } from 'chai';
import { run } from '../support/program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Two minutes of faults, and the rest for a busy machine. */
const MOST_MS = 600_000;

describe('scripts/chaos --short', () => {
  it('loses, duplicates and repeats nothing while faults are injected', async function () {
    this.timeout(MOST_MS);
    const { exitCode, output } = await run('node', ['chaos/run.ts', '--short', '--quiet'], { cwd: ROOT });
    // The output contains the seed, the findings and the timeline.
    expect(exitCode, output).to.equal(0);
  });
});
