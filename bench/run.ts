/** `scripts/bench`: measures throughput, latency and memory on its own Redis (AOF everysec). Prints a table and writes
 *  bench/results/<date>.json, from which `node bench/pages.ts` generates the figures of the documents. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, runMain } from '../scripts/lib/problem.ts';
import { Bench, type Measure } from './bench.ts';
import { HELP, type Options, readOptions } from './options.ts';
import { type Found, joined, type Results, thisMachine, writeResults } from './results.ts';
import { isReached } from './row.ts';
import { acknowledgement } from './rows/acknowledgement.ts';
import { fsync } from './rows/fsync.ts';
import { growth } from './rows/growth.ts';
import { ingestPaced, ingestQueued } from './rows/ingest.ts';
import { latency } from './rows/latency.ts';
import { memory } from './rows/memory.ts';
import { requests } from './rows/requests.ts';
import { runs } from './rows/runs.ts';
import { soak } from './rows/soak.ts';
import { tableOf } from './table.ts';
import { needWrk } from './wrk.ts';

await runMain(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(HELP);
  if (!existsSync('/proc/self/stat'))
    throw new Problem('scripts/bench runs on Linux only: it reads resource use from /proc.');
  needWrk();
  const bench = new Bench(options);
  const interrupted = Promise.withResolvers<never>();
  bench.signal.addEventListener('abort', () => interrupted.reject(bench.signal.reason));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => bench.abort(new Problem(`Interrupted by ${signal}`)));
  }
  try {
    const results = await Promise.race([measured(bench, chosen(options)), interrupted.promise]);
    tell(results, options);
  } finally {
    await bench.close();
  }
});
// What was interrupted may still wait for something that does not come.
process.exit();

/** Those that the options name. @throws Problem when there are none */
function chosen({ only, growth: isGrowth, soakMinutes }: Options): Measure[] {
  const all = [
    requests,
    fsync,
    acknowledgement,
    ingestQueued,
    ingestPaced,
    runs,
    latency,
    memory,
    ...(soakMinutes > 0 ? [soak] : []),
    ...(isGrowth ? [growth] : []),
  ];
  const named = all.filter(({ names }) =>
    names.some((name) => only === undefined || name.toLowerCase().includes(only)),
  );
  if (named.length === 0)
    throw new Problem(`--only matches no row. Rows:\n  ${all.flatMap(({ names }) => names).join('\n  ')}`);
  return named;
}

async function measured(bench: Bench, measures: readonly Measure[]): Promise<Results> {
  const { rounds, seconds, only } = bench.options;
  const at = new Date().toISOString();
  const all: Found[] = [];
  for (const { names, measure } of measures) {
    bench.tell(names.join(' · '));
    all.push(await measure(bench));
  }
  const found = joined(all);
  const rows = found.rows.filter(({ work }) => only === undefined || work.toLowerCase().includes(only));
  return { at, machine: thisMachine(bench.redisVersion), rounds, seconds, ...found, rows };
}

function tell(results: Results, { only, out, check }: Options): void {
  const wanted = results.rows.filter((row) => isReached(row) !== undefined);
  const reached = wanted.filter(isReached);
  const file =
    out ?? (only === undefined ? join(import.meta.dirname, 'results', `${results.at.slice(0, 10)}.json`) : undefined);
  if (file) writeResults(file, results);
  const written = file ? ` Wrote ${file}` : '';
  console.log(`${tableOf(results.rows)}\n\n${reached.length} of ${wanted.length} targets met.${written}`);
  if (check && reached.length < wanted.length) process.exitCode = 1;
}
