/** Runs `scripts/test`: type check, lint, advisories, the dashboard's build, then mocha. Stops at the first failure. A test checks the import rules. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { styleText } from 'node:util';
import { type Allowed, askRegistry, problemsIn } from './lib/audit.ts';
import { areBundlesStale, BUNDLES, bundleService } from './lib/bundle.ts';
import { findChromium, prepareChromium } from './lib/chromium-program.ts';
import { CpuTimes } from './lib/cpu-times.ts';
import { buildDashboard, isDashboardStale } from './lib/dashboard.ts';
import { type MochaRun, runMocha, runQueue, TestsFailed, type Totals } from './lib/mocha.ts';
import { Problem, runMain } from './lib/problem.ts';
import { planTests } from './lib/test-plan.ts';

/** Slow, and rarely find what others do not: scripts/fuzz covers the same routes, the image is built from what other tests start, and test/release starts
 *  the package of the service. */
const ONLY_WITH_ALL = [
  'test/api/schemathesis.test.ts',
  'test/deploy/image.test.ts',
  'test/operations/service-install.test.ts',
];
/** What `scripts/test --cluster` runs on a Redis Cluster: scenarios that use all of the service. The others see no difference, or look at the
 *  keys of one Redis. */
const ON_CLUSTER = ['test/conformance', 'test/events', 'test/runs', 'test/official', 'test/archive/archiver*.test.ts'];
/** They stop, fill and replace a single Redis of their own. */
const NOT_ON_CLUSTER = ['test/events/durability.test.ts', 'test/runs/crash.test.ts'];
/** The same for scripts/test: the cases that all clients share, steps with our client and the official one, deduplication, reconciliation,
 *  and a round of the archiver. */
const ON_CLUSTER_SHORT = [
  'test/conformance/sends.test.ts',
  'test/conformance/replay.test.ts',
  'test/runs/steps/scenarios.test.ts',
  'test/runs/runs-end.test.ts',
  'test/events/deduplication.test.ts',
  'test/archive/past-events.test.ts',
];
/** For scripts/test: the work of a worker grows with its partitions. Eight are spread over all primaries, too. */
const SHORT_ON_CLUSTER = { TEST_PARTITIONS: '8' };
/** The timeout of tests without one of their own: six nodes share the machine with everything else. */
const CLUSTER_TIMEOUT_MS = 180_000;
/** More failed files than this part of all are no accident of a loaded machine, but a fault that many tests see. Fewer are judged one by one:
 *  each must pass alone, with all its expectations, or the tests have failed. A part, so that with more tests green is not less likely. */
const RERUN_MAX_PART = 0.01;
/** Four runs more than cores, because tests wait for more than half of their time. Those that inject faults get CPU time before the others do. */
const RUNS_AT_ONCE = Math.min(6, availableParallelism() + 4);
const SLOWEST_SHOWN = 30;
/** Each of the four that tsc takes by itself checks much of what the others do: one needs half of the CPU time of four. */
const CHECKERS = ['--checkers', String(Math.min(4, Math.ceil(availableParallelism() / 2)))];
const ALL = '--all';
const CLUSTER = '--cluster';
/** Safe to delete. */
const COMPILE_CACHE = 'node_modules/.cache/tidegate-tests';
/** In the tree, where the command line finds the service. */
const CLI_BUNDLE = 'dist/cli';
const ROOT = resolve(import.meta.dirname, '..');

process.chdir(ROOT);
const isAll = process.argv.includes(ALL);
const isOnCluster = process.argv.includes(CLUSTER);
const mochaArgs = process.argv.slice(2).filter((arg) => arg !== ALL && arg !== CLUSTER);
/** `--cluster` alone runs tests and no other checks. */
const isOnlyTests = mochaArgs.length > 0 || isOnCluster;
// Some tests have a long form.
if (isAll) process.env.TEST_ALL = '1';
// Compiled code of this script's and the tests' processes, which need a third to a half less CPU time to start with it. Coverage would
// miss functions that come from a cache.
if (!process.env.NODE_V8_COVERAGE) process.env.NODE_COMPILE_CACHE ??= join(ROOT, COMPILE_CACHE);
const interruption = new AbortController();
/** Repeated at the end, where people look. */
const notChecked: string[] = [];
const cpuTimes = new CpuTimes();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

await runMain(async () => {
  if (!isOnlyTests) {
    await step('type check', () => command('tsc', ...CHECKERS));
    await step("the dashboard's type check", () => command('tsc', '-p', 'dashboard', ...CHECKERS));
    await step('lint', () => command('biome', 'ci', ...(process.stdout.isTTY ? [] : ['--colors=off'])));
    await step('advisories', audit);
  }
  if (isDashboardStale(ROOT)) await step('dashboard', () => (isOnlyTests ? tryDashboard() : buildDashboard(ROOT)));
  // For some tests they are not worth their seconds, but a fresh one of the service is used.
  if (mochaArgs.length === 0) await step('bundles', bundle);
  if (!areBundlesStale(ROOT) && !process.env.NODE_V8_COVERAGE) process.env.TEST_BUNDLES = resolve(ROOT, BUNDLES);
  try {
    if (isOnCluster) await step('tests on a Redis Cluster', () => clusterTests(mochaArgs));
    else await step('tests', () => (mochaArgs.length > 0 ? someTests(mochaArgs) : allTests()));
  } finally {
    showCpu();
  }
  for (const line of notChecked) console.log(styleText('yellow', line));
});
if (interruption.signal.aborted) process.exitCode = 130;

async function audit(): Promise<void> {
  const report = askRegistry();
  if (typeof report === 'string') {
    console.log(styleText('yellow', report));
    notChecked.push(report);
    return;
  }
  const allowed = JSON.parse(readFileSync('scripts/audit-allowed.json', 'utf8')) as Allowed[];
  const problems = problemsIn(report, allowed, new Date().toISOString().slice(0, 10));
  if (problems.length > 0) throw new Problem(problems.join('\n'));
}

async function bundle(): Promise<void> {
  if (areBundlesStale(ROOT)) await bundleService(ROOT, resolve(ROOT, BUNDLES));
  await command('node', 'cli/bundle.ts', CLI_BUNDLE);
  if (!process.env.NODE_V8_COVERAGE) process.env.TEST_CLI = resolve(ROOT, CLI_BUNDLE, 'cli.js');
}

/** A broken dashboard must not block tests of other code. */
async function tryDashboard(): Promise<void> {
  await buildDashboard(ROOT).catch((problem: Error) => console.error(problem.message));
}

async function someTests(args: string[]): Promise<void> {
  const totals = await runMocha({ args }, interruption.signal);
  showSlowest([totals]);
}

async function clusterTests(args: string[]): Promise<void> {
  findChromium();
  await runMocha(onCluster(args.length > 0 ? args : ON_CLUSTER), interruption.signal);
}

function onCluster(args: readonly string[]): MochaRun {
  const ignored = NOT_ON_CLUSTER.filter((file) => !args.includes(file)).flatMap((file) => ['--ignore', file]);
  return { args: [...args, ...ignored, '--timeout', String(CLUSTER_TIMEOUT_MS)], redis: 'cluster' };
}

/** Has a few mocha processes at a time, each on servers of its own, until all tests have run: once each, and a selection on a Redis Cluster. */
async function allTests(): Promise<void> {
  // Install it before the tests start.
  prepareChromium();
  const plan = planTests(ROOT, isAll ? [] : ONLY_WITH_ALL);
  const fileCount = plan.reduce((sum, { args }) => sum + args.length, 0);
  const onClusters = isAll ? onCluster(ON_CLUSTER) : { ...onCluster(ON_CLUSTER_SHORT), env: SHORT_ON_CLUSTER };
  const cluster = { ...onClusters, name: 'on a Redis Cluster' };
  const queue = [...plan.slice(0, 1), cluster, ...plan.slice(1)];
  const workers = await Promise.all(Array.from({ length: RUNS_AT_ONCE }, () => runQueue(queue, interruption.signal)));
  const ends = workers.flat();
  const failures = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as Error);
  const ofFailures = failures.flatMap((failure) => (failure instanceof TestsFailed ? [failure.totals] : []));
  const passed = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  showSlowest([...passed, ...ofFailures]);
  const unexpected = failures.find((failure) => !(failure instanceof Problem));
  if (unexpected) throw unexpected;
  const rerun = await rerunAlone(failures, Math.ceil(fileCount * RERUN_MAX_PART));
  const totals = [...passed, ...rerun];
  const sum = (of: (one: Totals) => number) => totals.reduce((all, one) => all + of(one), 0);
  console.log(`${sum(({ passes }) => passes)} passed, ${sum(({ failures }) => failures)} failed in total`);
}

/** Several tests run at a time, on a machine that may be busy with more. A few files that failed run once more, alone; what then passes is reported as flaky.
 *  @throws Problem when a file fails again, when too many failed, or for any failure that is not a test's */
async function rerunAlone(failures: Error[], filesMax: number): Promise<Totals[]> {
  if (failures.length === 0) return [];
  const files = failures.flatMap((failure) => (failure instanceof TestsFailed ? failure.files : ['']));
  const isRerun = !files.includes('') && files.length <= filesMax && !interruption.signal.aborted;
  if (!isRerun) throw new Problem(failures.map(({ message }) => message).join('\n'));
  const names = files.map((file) => relative(ROOT, file)).join(', ');
  console.log(styleText('bold', `── failed, running again alone: ${names}`));
  for (const failure of failures as TestsFailed[]) {
    console.log(failure.message);
    const again: MochaRun = { args: failure.files, redis: failure.redis };
    await runMocha(again, interruption.signal);
  }
  console.log(styleText('yellow', `FLAKY: ${names} failed among the other tests and passed alone`));
  return failures.flatMap((failure) => (failure instanceof TestsFailed ? [{ ...failure.totals, failures: 0 }] : []));
}

function showSlowest(totals: readonly Totals[]): void {
  const all = totals.flatMap(({ took }) => Object.entries(took));
  if (all.length < 2) return;
  const sorted = all.sort(([, a], [, b]) => b.cpuSeconds - a.cpuSeconds).slice(0, SLOWEST_SHOWN);
  const lines = sorted.map(
    ([file, { seconds, cpuSeconds }]) =>
      `  CPU ${cpuSeconds.toFixed(1)} s (${seconds.toFixed(0)} s) ${relative(ROOT, file)}`,
  );
  console.log(['Files with the most CPU time:', ...lines].join('\n'));
}

/** Where the time goes on a machine that is busy with other things too: test/README.md. */
function showCpu(): void {
  const kinds = cpuTimes.stop().filter(([, seconds]) => seconds >= 0.5);
  const sum = kinds.reduce((all, [, seconds]) => all + seconds, 0);
  console.log(
    `CPU: ${sum.toFixed(0)} s: ${kinds.map(([kind, seconds]) => `${kind} ${seconds.toFixed(0)}`).join(', ')}`,
  );
}

/** @throws Problem under a heading that names the step */
async function step(name: string, work: () => Promise<void>): Promise<void> {
  if (interruption.signal.aborted) return;
  console.log(styleText('bold', `── ${name}`));
  try {
    await work();
  } catch (error) {
    if (interruption.signal.aborted) throw new Problem(`Interrupted: ${name}`);
    if (!(error instanceof Problem)) throw error;
    throw new Problem(`${styleText('red', `── FAILED: ${name}`)}\n${error.message}`);
  }
}

async function command(file: string, ...args: string[]): Promise<void> {
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  interruption.signal.onabort = () => child.kill('SIGTERM');
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Problem(`${[file, ...args].join(' ')} exited with ${signal ?? `code ${code}`}`);
}
