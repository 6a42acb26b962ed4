import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { FAULTS } from '../../chaos/faults/faults.ts';
import type { Results } from '../../chaos/results.ts';
import { run } from '../support/program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Two minutes of faults, and the rest for a busy machine. */
const MOST_MS = 600_000;
/** --short mounts no disk that can be full. */
const EACH = FAULTS.map(({ name }) => name).filter((name) => name !== 'full-disk');

describe('scripts/chaos --short', () => {
  it('loses, duplicates and repeats nothing while each fault is injected', async function () {
    this.timeout(MOST_MS);
    const out = join(tmpdir(), `chaos-${process.pid}.json`);
    const args = ['chaos/run.ts', '--short', '--quiet', '--out', out];
    const { exitCode, output } = await run('node', args, { cwd: ROOT });
    // The output contains the seed, the findings and the timeline.
    expect(exitCode, output).to.equal(0);
    const { faults, left_out } = JSON.parse(readFileSync(out, 'utf8')) as Results;
    rmSync(out);
    // A busy machine has no time for all.
    const isLate = (name: string) => left_out.includes(`no time was left for ${name}`);
    expect(Object.keys(faults)).to.have.members(EACH.filter((name) => !isLate(name)));
  });
});
