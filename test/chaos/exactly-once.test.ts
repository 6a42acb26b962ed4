import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import type { Results } from '../../chaos/results.ts';
import { run } from '../support/program.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('scripts/chaos --short --only outbox,transaction', () => {
  it('finds one event, run and booking for each order of an app that dies between its transactions and the service', async function () {
    this.timeout(600_000);
    const out = join(tmpdir(), `exactly-once-${process.pid}.json`);
    const args = ['chaos/run.ts', '--short', '--only', 'outbox,transaction', '--out', out];
    const { exitCode, output } = await run('node', args, { cwd: ROOT });
    expect(exitCode, output).to.equal(0);
    const { orders, events, runs, bookings } = (JSON.parse(readFileSync(out, 'utf8')) as Results).load;
    rmSync(out);
    expect(orders).to.be.greaterThan(0);
    expect([events, runs, bookings]).to.deep.equal([orders, orders, orders]);
  });
});
