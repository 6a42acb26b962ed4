/** `scripts/fuzz`: attacks its own service, and reports findings with the command that repeats them. */
import { resolve } from 'node:path';
import { buildDashboard, isDashboardStale } from '../scripts/lib/dashboard.ts';
import { Problem, runMain } from '../scripts/lib/problem.ts';
import { startTestPostgres } from '../scripts/lib/test-postgres.ts';
import { startOwnRedis } from '../test/support/own-redis.ts';
import { saveToCorpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { HELP, readOptions } from './options.ts';
import { failuresOf, findingText, summary } from './report.ts';

const ROOT = resolve(import.meta.dirname, '..');

await runMain(async () => {
  const { help, save, ...options } = readOptions(process.argv.slice(2));
  if (help) return console.log(HELP);
  if (isDashboardStale(ROOT)) await buildDashboard(ROOT);
  const redis = await startOwnRedis();
  const postgres = await startTestPostgres().catch(async (error) => {
    await redis.remove();
    throw error;
  });
  // Test services read these.
  Object.assign(process.env, { REDIS_URL: redis.url, ...postgres.env });
  try {
    console.log(`seed ${options.seed}`);
    const report = await fuzz({ ...options, shrink: save, timed: true, progress: (line) => console.log(line) });
    if (save) {
      const made = report.findings.filter(({ origin }) => !origin.startsWith('corpus'));
      const saved = saveToCorpus(made.map(({ problem, case: one }) => ({ title: titleOf(problem), case: one })));
      console.log(`Added ${saved.added} of ${made.length} findings to ${saved.file}`);
    }
    const failures = [...report.findings.map(findingText), ...failuresOf(report)];
    console.log(`\n${summary(report)}`);
    if (failures.length > 0)
      throw new Problem(`\n${failures.join('\n\n')}\n\nRepeat with: scripts/fuzz --seed ${report.seed}`);
  } finally {
    await postgres.stop();
    await redis.remove();
  }
});

/** The first line of the problem, without request IDs. */
function titleOf(problem: string): string {
  const [line = ''] = problem.split('\n', 1);
  return line.replace(/,?"?request_id"?[^,}]*/g, '').slice(0, 200);
}
