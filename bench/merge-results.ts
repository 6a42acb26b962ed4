/** Adds a later run of some rows to a results file: node bench/merge-results.ts <results file> <file of --out>. Rows of the same name are replaced. */
import { Problem, runMain } from '../scripts/lib/problem.ts';
import { type Results, readResults, writeResults } from './results.ts';

await runMain(async () => {
  const [into, from] = process.argv.slice(2);
  if (!into || !from) throw new Problem('Usage: node bench/merge-results.ts <results file> <file of --out>');
  writeResults(into, merged(readResults(into), readResults(from)));
});

function merged(all: Results, later: Results): Results {
  const rows = new Map([...all.rows, ...later.rows].map((row) => [row.work, row]));
  const costs = new Map([...all.costs, ...later.costs].map((cost) => [cost.key, cost]));
  const series = new Map([...all.series, ...later.series].map((one) => [one.key, one]));
  const { bytes, archive, compression } = { ...all, ...later };
  return {
    ...all,
    rows: [...rows.values()],
    costs: [...costs.values()],
    series: [...series.values()],
    ...(bytes && { bytes }),
    ...(archive && { archive }),
    ...(compression && { compression }),
  };
}
