import { expect } from 'chai';
import { Benchmark, type Measurement } from '../../bench/bench.ts';
import { readOptions } from '../../bench/options.ts';
import type { Measured } from '../../bench/results.ts';
import { archiveReads } from '../../bench/rows/archive-reads.ts';
import { archiver } from '../../bench/rows/archiver.ts';

/** Few rows: whether they are measured, not how fast. More than the archiver ships at once, since the first shipment begins the measurement. */
const SECONDS = 0.2;

describe('The benchmark of the archive', function () {
  this.timeout(600_000);

  async function measured({ measure }: Measurement): Promise<Measured> {
    const options = { ...readOptions(['--rounds', '1', '--archive-events', '4000']), seconds: SECONDS };
    const bench = new Benchmark(options);
    bench.progress = () => {};
    try {
      return await measure(bench);
    } finally {
      await bench.close();
    }
  }

  it('moves events and their runs to its own Postgres, and writes the same rows by COPY', async () => {
    const { rows } = await measured(archiver);
    expect(rows).to.have.length(2);
    for (const { value, references } of rows) {
      expect(value).to.be.greaterThan(0);
      expect(references[0]?.value).to.be.greaterThan(0);
    }
  });

  it('reads what it has loaded, and each response has the expected entries', async () => {
    const { rows } = await measured(archiveReads);
    expect(rows.map(({ value }) => value).every((value) => value > 0)).to.equal(true);
  });
});
