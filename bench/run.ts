/** How fast is it? `scripts/bench`: everything on a Redis of its own (AOF everysec), with wrk. Prints a table, and writes
 *  bench/results/<date>.json. Rounds of the service and of its references alternate; medians are told. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isReached, type Row, tableOf } from './row.ts';
import { memoryRows } from './rows/memory.ts';
import { requestRows } from './rows/requests.ts';
import { runRows } from './rows/runs.ts';
import { openStage } from './stage.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '5' } },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];

const stage = await openStage();
const rows: Row[] = [];
try {
  rows.push(...(await requestRows(stage, rounds, seconds)));
  const worker = await stage.startWorker();
  await stage.drained();
  rows.push(...(await runRows(stage, rounds)));
  rows.push(...(await memoryRows(stage)));
  await worker.stop();
} finally {
  await stage.close();
}

const machine = {
  cpu: cpus()[0]?.model,
  cores: availableParallelism(),
  memoryBytes: totalmem(),
  node: process.version,
};
const results = { at: new Date().toISOString(), machine, rounds, seconds, rows };
const file = join(import.meta.dirname, 'results', `${results.at.slice(0, 10)}.json`);
mkdirSync(join(file, '..'), { recursive: true });
writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
console.log(`${tableOf(rows)}\n\n${rows.filter(isReached).length} of ${rows.length} reached. Written to ${file}`);
