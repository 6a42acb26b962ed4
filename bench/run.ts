/** `scripts/bench`: measures throughput, latency and memory on its own Redis (AOF everysec). Prints a table and writes
 *  bench/results/<date>.json, from which `node bench/update-docs.ts` generates the figures of the documents. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, runMain } from '../scripts/lib/problem.ts';
import { Benchmark, type Measurement } from './bench.ts';
import { HELP, type Options, readOptions } from './options.ts';
import { compareCheckouts } from './peers/checkouts.ts';
import { comparePeers } from './peers/run.ts';
import { type Measured, merge, type Results, thisMachine, writeResults } from './results.ts';
import { meetsTargets } from './row.ts';
import { acknowledgement } from './rows/acknowledgement.ts';
import { archiveBytes } from './rows/archive-bytes.ts';
import { archiveReads } from './rows/archive-reads.ts';
import { archiver } from './rows/archiver.ts';
import { archiving } from './rows/archiving.ts';
import { atWork } from './rows/at-work.ts';
import { cluster } from './rows/cluster.ts';
import { compression } from './rows/compression.ts';
import { dashboard } from './rows/dashboard.ts';
import { exactlyOnce } from './rows/exactly-once.ts';
import { flowControl, isolation, lanes, waitingMemory } from './rows/flow-control.ts';
import { fsync } from './rows/fsync.ts';
import { growth } from './rows/growth.ts';
import { ingestPaced, ingestQueued } from './rows/ingest.ts';
import { latency } from './rows/latency.ts';
import { memory } from './rows/memory.ts';
import { requests } from './rows/requests.ts';
import { runs } from './rows/runs.ts';
import { schedules } from './rows/schedules.ts';
import { sleepers } from './rows/sleepers.ts';
import { soak } from './rows/soak.ts';
import { waitingRuns } from './rows/waiting-runs.ts';
import { webhooks } from './rows/webhooks.ts';
import { whatIf } from './rows/what-if.ts';
import { tableOf } from './table.ts';
import { ensureWrk } from './wrk.ts';

await runMain(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(HELP);
  if (!existsSync('/proc/self/stat'))
    throw new Problem('scripts/bench runs on Linux only: it reads resource use from /proc.');
  const compare = options.against ? compareCheckouts : options.peers ? comparePeers : undefined;
  if (!compare) ensureWrk();
  const bench = new Benchmark(options);
  const interrupted = Promise.withResolvers<never>();
  bench.signal.addEventListener('abort', () => interrupted.reject(bench.signal.reason));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => bench.abort(new Problem(`Interrupted by ${signal}`)));
  }
  try {
    await Promise.race([(compare ?? measureRows)(bench), interrupted.promise]);
  } finally {
    await bench.close();
  }
});
// After an interrupt, pending promises may never settle.
process.exit();

async function measureRows(bench: Benchmark): Promise<void> {
  const { options } = bench;
  report(await runMeasurements(bench, selectMeasurements(options)), options);
}

/** The measurements that the options select. @throws Problem when none match */
function selectMeasurements({
  only,
  growth: isGrowth,
  soakMinutes,
  archiveEvents,
  sleepers: sleeperCount,
}: Options): Measurement[] {
  const all = [
    requests,
    webhooks,
    atWork,
    cluster,
    fsync,
    acknowledgement,
    ingestQueued,
    ingestPaced,
    runs,
    latency,
    ...exactlyOnce,
    whatIf,
    flowControl,
    isolation,
    lanes,
    waitingMemory,
    schedules,
    memory,
    waitingRuns,
    archiver,
    archiving,
    archiveBytes,
    compression,
    dashboard,
    ...(soakMinutes > 0 ? [soak] : []),
    ...(isGrowth ? [growth] : []),
    ...(sleeperCount > 0 ? [sleepers] : []),
    ...(archiveEvents > 0 ? [archiveReads] : []),
  ];
  const named = all.filter(({ names }) =>
    names.some((name) => only === undefined || name.toLowerCase().includes(only)),
  );
  if (named.length === 0)
    throw new Problem(`--only matches no row. Rows:\n  ${all.flatMap(({ names }) => names).join('\n  ')}`);
  return named;
}

async function runMeasurements(bench: Benchmark, measures: readonly Measurement[]): Promise<Results> {
  const { rounds, seconds, only } = bench.options;
  const at = new Date().toISOString();
  const all: Measured[] = [];
  for (const { names, measure } of measures) {
    bench.progress(names.join(' · '));
    all.push(await measure(bench));
  }
  const found = merge(all);
  const rows = found.rows.filter(({ work }) => only === undefined || work.toLowerCase().includes(only));
  return { at, machine: thisMachine(bench.redisVersion), rounds, seconds, ...found, rows };
}

function report(results: Results, { only, out, check }: Options): void {
  const wanted = results.rows.filter((row) => meetsTargets(row) !== undefined);
  const reached = wanted.filter(meetsTargets);
  const file =
    out ?? (only === undefined ? join(import.meta.dirname, 'results', `${results.at.slice(0, 10)}.json`) : undefined);
  if (file) writeResults(file, results);
  const written = file ? ` Wrote ${file}` : '';
  console.log(`${tableOf(results.rows)}\n\n${reached.length} of ${wanted.length} targets met.${written}`);
  if (check && reached.length < wanted.length) process.exitCode = 1;
}
