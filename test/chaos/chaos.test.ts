import { resolve } from 'node:path';
import { expect } from 'chai';
import { run } from '../support/program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MOST_MS = 270_000;

describe('scripts/chaos --short', () => {
  it('loses, doubles and repeats nothing while everything is broken in turn', async function () {
    this.timeout(MOST_MS);
    const { exitCode, output } = await run('node', ['chaos/run.ts', '--short', '--quiet'], { cwd: ROOT });
    // The output has the seed, the findings and the timeline.
    expect(exitCode, output).to.equal(0);
  });
});
