/** Runs mocha with its own Redis, or its own Redis Cluster, and its own Postgres, and fails if it leaves processes, keys or schemas behind.
 *  Several runs at a time do not see each other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { Problem } from './problem.ts';
import { listProcesses, type Process, withVariable } from './processes.ts';
import { startTestPostgres, type TestPostgres } from './test-postgres.ts';
import { type RedisKind, startTestRedis, type TestRedis } from './test-redis.ts';

/** Identifies every process of a test run, even those that left its process group. */
const MARK = 'SERVICE_TEST_RUN';
/** Processes that notice the exit of their parent need a moment to exit, more on a busy machine. */
const GRACE_MS = 30_000;
/** As nice(1) says it: a third of the weight of a process at 0. */
const LATER = 5;
/** A tenth of the CPU time of mocha was garbage collection with the default of 16 MB. */
const NODE_OPTIONS = ['--max-semi-space-size=64'];
const MOCHA = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'));
const SHOWN_KEYS = 20;
const SHOWN_LINES = 30;

/** A failed test or hook. */
export interface Failed {
  title: string;
  /** Empty string: a hook of all tests. */
  file: string;
  /** Its first lines. */
  message: string;
}

/** Sent by test/support/reporter.ts. */
export interface Totals {
  passes: number;
  failures: number;
  failed: Failed[];
  /** By file. */
  took: Record<string, Took>;
}

export interface Took {
  seconds: number;
  /** CPU time of mocha, and of those of its processes that have ended. */
  cpuSeconds: number;
}

/** Tests failed, and nothing else went wrong. */
export class TestsFailed extends Problem {
  readonly totals: Totals;
  readonly redis: RedisKind;

  constructor(message: string, totals: Totals, redis: RedisKind) {
    super(message);
    this.totals = totals;
    this.redis = redis;
  }

  /** Empty string: a failure outside of any file. */
  get files(): string[] {
    return [...new Set(this.totals.failed.map(({ file }) => file))];
  }
}

export interface MochaRun {
  args: string[];
  /** Others run at the same time: its output is printed at its end, under this name. */
  name?: string;
  /** Default: single. */
  redis?: RedisKind;
  /** Added to the environment. */
  env?: Record<string, string>;
  /** It gets CPU time before the others: its faults are to be those that it injects. */
  isFirst?: boolean;
}

interface Servers {
  kind: RedisKind;
  redis: TestRedis;
  postgres: TestPostgres;
}

/** @throws Problem if a test fails, or leaves something behind */
export async function runMocha(run: MochaRun, interrupted: AbortSignal): Promise<Totals> {
  const servers = await startServers(run.redis ?? 'single');
  try {
    return await runWith(servers, run, interrupted);
  } finally {
    await stopServers(servers);
  }
}

/** Takes runs from the front of the queue until it is empty, one after the other on the same servers.
 *  @returns how each has ended: with its totals, or the error that `runMocha` throws */
export async function runQueue(queue: MochaRun[], interrupted: AbortSignal): Promise<PromiseSettledResult<Totals>[]> {
  const ends: PromiseSettledResult<Totals>[] = [];
  let servers: Servers | undefined;
  try {
    for (let run = queue.shift(); run && !interrupted.aborted; run = queue.shift()) {
      const isSingle = (run.redis ?? 'single') === 'single';
      if (isSingle) servers ??= await startServers('single');
      const work = servers && isSingle ? runWith(servers, run, interrupted) : runMocha(run, interrupted);
      ends.push(...(await Promise.allSettled([work])));
    }
    return ends;
  } finally {
    if (servers) await stopServers(servers);
  }
}

async function startServers(kind: RedisKind): Promise<Servers> {
  const [redis, postgres] = await Promise.all([startTestRedis(kind), startTestPostgres()]);
  return { kind, redis, postgres };
}

async function stopServers({ redis, postgres }: Servers): Promise<void> {
  await Promise.all([redis.stop(), postgres.stop()]);
}

async function runWith({ kind, redis, postgres }: Servers, run: MochaRun, interrupted: AbortSignal): Promise<Totals> {
  const totals: Totals = { passes: 0, failures: 0, failed: [], took: {} };
  const failure = await mochaWith({ ...redis.env, ...postgres.env, ...run.env }, run, totals, interrupted);
  if (interrupted.aborted) return totals;
  const leftovers = [await leftoverKeys(redis), await leftoverSchemas(postgres)];
  const problems = [failure, ...leftovers].filter((text) => text !== undefined);
  const message = problems.join('\n');
  if (problems.length === 1 && failure === testFailure(totals)) throw new TestsFailed(message, totals, kind);
  if (problems.length > 0) throw new Problem(message);
  return totals;
}

async function mochaWith(
  servers: TestRedis['env'],
  { args, name, isFirst }: MochaRun,
  totals: Totals,
  interrupted: AbortSignal,
): Promise<string | undefined> {
  const run = randomUUID();
  const output = name ? 'pipe' : 'inherit';
  const mocha = spawn(process.execPath, [...NODE_OPTIONS, MOCHA, ...args], {
    env: { ...process.env, ...servers, [MARK]: run },
    // The channel tells mocha when this script has exited (test/support/hooks.ts), and returns its totals.
    stdio: [name ? 'ignore' : 'inherit', output, output, 'ipc'],
    // Its own process group, to find leftover processes.
    detached: true,
  });
  // Its processes inherit it.
  if (name && !isFirst && mocha.pid) setPriority(mocha.pid, LATER);
  const written: Buffer[] = [];
  for (const stream of [mocha.stdout, mocha.stderr]) stream?.on('data', (bytes) => written.push(bytes));
  mocha.on('message', (message: Totals) => Object.assign(totals, message));
  const ours = () => [...ofGroup(mocha), ...withVariable(MARK, run)];
  const interrupt = () => mocha.kill('SIGTERM');
  interrupted.addEventListener('abort', interrupt);
  const [code, signal] = await once(mocha, 'close');
  interrupted.removeEventListener('abort', interrupt);
  if (name) process.stdout.write(Buffer.concat([Buffer.from(styleText('bold', `── ${name}\n`)), ...written]));
  const left = await leftoverProcesses(ours);
  if (left) return left;
  if (code === 0) return undefined;
  if (code === totals.failures) return testFailure(totals);
  const end = `mocha exited with ${signal ?? `code ${code}`}${name ? ` (${name}); its last lines:` : ''}`;
  return [end, ...lastLines(written)].join('\n  ');
}

function testFailure({ failures, failed }: Totals): string {
  const tests = failed.map(
    ({ title, file, message }) =>
      `  ${title}\n    in ${relative(process.cwd(), file) || 'a hook of all tests'}\n    ${message.replaceAll('\n', '\n    ')}`,
  );
  return [`${failures} failed:`, ...tests].join('\n');
}

function lastLines(written: readonly Buffer[]): string[] {
  return Buffer.concat(written).toString().trimEnd().split('\n').slice(-SHOWN_LINES);
}

function ofGroup({ pid }: ChildProcess): Process[] {
  return listProcesses().filter(({ group }) => group === pid);
}

async function leftoverProcesses(find: () => Process[]): Promise<string | undefined> {
  const deadline = Date.now() + GRACE_MS;
  while (find().length > 0 && Date.now() < deadline) await setTimeout(50);
  const left = new Map(find().map(({ pid, command }) => [pid, command]));
  for (const pid of left.keys()) process.kill(pid, 'SIGKILL');
  return left.size === 0
    ? undefined
    : listed(
        'The tests left processes behind',
        [...left].map((line) => line.join(' ')),
      );
}

async function leftoverKeys(redis: TestRedis): Promise<string | undefined> {
  const keys = await redis.keys();
  return keys.length === 0 ? undefined : listed('The tests left keys behind in Redis', keys);
}

async function leftoverSchemas(postgres: TestPostgres): Promise<string | undefined> {
  const schemas = await postgres.schemas();
  return schemas.length === 0 ? undefined : listed('The tests left schemas behind in Postgres', schemas);
}

function listed(what: string, items: string[]): string {
  const shown = items.slice(0, SHOWN_KEYS).map((item) => `  ${item}`);
  if (items.length > shown.length) shown.push(`  … and ${items.length - shown.length} more`);
  return [`${what} (${items.length}):`, ...shown].join('\n');
}
