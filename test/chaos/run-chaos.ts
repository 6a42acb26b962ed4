/** scripts/chaos in a process of its own. */
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import type { Results } from '../../chaos/results.ts';
import { run } from '../support/program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** The first words about results that exceed their limits (chaos/run.ts). Then the findings and the timeline follow. */
const REPORT = 'Some results exceed';

/** Fails with what exceeded its limit, then the seed, all results and the timeline. */
export async function runChaos(args: readonly string[]): Promise<Results> {
  const out = join(tmpdir(), `chaos-${process.pid}.json`);
  try {
    const { exitCode, output } = await run('node', ['chaos/run.ts', ...args, '--out', out], { cwd: ROOT });
    const at = Math.max(output.indexOf(REPORT), 0);
    expect(exitCode, `${output.slice(at)}\n${output.slice(0, at)}`).to.equal(0);
    return JSON.parse(readFileSync(out, 'utf8'));
  } finally {
    rmSync(out, { force: true });
  }
}
