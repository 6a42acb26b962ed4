/** `scripts/bench --peers`: runs the same functions with the same sender on other engines and on Tidegate, and writes
 *  bench/results/peers-<date>.json. Each round starts every engine anew, one after the other: nothing else runs meanwhile. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Problem } from '../../scripts/lib/problem.ts';
import type { Benchmark } from '../bench.ts';
import type { BenchProcess } from '../processes.ts';
import { ROOT } from '../processes.ts';
import { thisMachine, writeResults } from '../results.ts';
import { median } from '../statistics.ts';
import { treeCpuSeconds } from '../usage.ts';
import type { Engine, OpenEngine } from './engine.ts';
import { dbos } from './engines/dbos.ts';
import { restate } from './engines/restate.ts';
import { TIDEGATE } from './engines/tidegate.ts';
import { FUNCTION_NAMES, type FunctionName } from './functions.ts';
import { installPeers } from './packages.ts';
import { type EngineResult, type LoadResult, PARTS, type PeerResults, SENDERS } from './results.ts';
import type { SendOrder, SendReport } from './sender.ts';
import { Session } from './session.ts';
import { tablesOf } from './tables.ts';

const ENGINES: readonly Engine[] = [...TIDEGATE, restate, dbos];
/** Before each measurement of an engine, every function runs for this long at most. */
const WARM_UP_SECONDS = 2;
const WARM_UP_SENDERS = 32;

/** What one round measures of one engine. */
interface Round {
  version: string;
  loads: LoadResult[];
}

export async function comparePeers(bench: Benchmark): Promise<void> {
  const { only, out, rounds, seconds } = bench.options;
  const engines = selectEngines(only);
  installPeers();
  const commit = commitOf();
  const at = new Date().toISOString();
  const measured = new Map<Engine, Round[]>(engines.map((engine) => [engine, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const engine of engines) {
      bench.progress(`round ${round}: ${engine.name}`);
      const session = new Session(bench);
      measured.get(engine)?.push(await bench.using(session, () => measure(engine, session)));
    }
  }
  const results: PeerResults = {
    at,
    commit,
    machine: thisMachine(bench.redisVersion),
    rounds,
    seconds,
    engines: engines.map((engine) => mediansOf(engine, measured.get(engine) ?? [])),
  };
  const file = out ?? (only === undefined ? join(ROOT, `bench/results/peers-${at.slice(0, 10)}.json`) : undefined);
  if (file) writeResults(file, results);
  console.log(`${tablesOf(results)}${file ? `\n\nWrote ${file}` : ''}`);
}

/** @throws Problem when none match */
function selectEngines(only: string | undefined): Engine[] {
  const selected = ENGINES.filter(({ name }) => only === undefined || name.toLowerCase().includes(only));
  if (selected.length > 0) return selected;
  throw new Problem(`--only matches no engine. Engines:\n  ${ENGINES.map(({ name }) => name).join('\n  ')}`);
}

async function measure(engine: Engine, session: Session): Promise<Round> {
  const { open, sender } = await openWarm(engine, session);
  const loads: LoadResult[] = [];
  for (const name of FUNCTION_NAMES) {
    for (const senders of SENDERS) loads.push(await measureLoad(session, open, sender, { name, senders }));
  }
  return { version: open.version, loads };
}

/** Starts an engine and its sender, and runs every function for a while. */
export async function openWarm(engine: Engine, session: Session): Promise<{ open: OpenEngine; sender: BenchProcess }> {
  const sender = await session.startProcess('bench/peers/sender.ts');
  const open = await engine.open(session, Number(new URL(sender.url).port));
  // Before what it sends to.
  session.onClose(() => sender.stop());
  for (const name of FUNCTION_NAMES) {
    const seconds = Math.min(WARM_UP_SECONDS, session.bench.options.seconds);
    const warmUp = { ...open.startOf(name), senders: WARM_UP_SENDERS, seconds };
    await sender.ask<SendReport>(warmUp satisfies SendOrder);
  }
  return { open, sender };
}

/** Takes `--seconds`. */
export async function measureLoad(
  { bench }: Session,
  { startOf, processes }: OpenEngine,
  sender: BenchProcess,
  { name, senders }: { name: FunctionName; senders: number },
): Promise<LoadResult> {
  bench.signal.throwIfAborted();
  const before = processes.map(({ pid }) => treeCpuSeconds(pid));
  const order: SendOrder = { ...startOf(name), senders, seconds: bench.options.seconds };
  const report = await sender.ask<SendReport>(order);
  const cpuMs = { server: 0, app: 0, store: 0 };
  for (const [i, { part, pid }] of processes.entries())
    cpuMs[part] += (1_000 * (treeCpuSeconds(pid) - (before[i] ?? 0))) / report.runs;
  const { p50Ms, p99Ms } = report;
  return { function: name, senders, runsPerSecond: report.runs / report.seconds, p50Ms, p99Ms, cpuMs };
}

function mediansOf({ name, durability }: Engine, rounds: readonly Round[]): EngineResult {
  const [{ version, loads }] = rounds as [Round];
  const medianOf = (load: number, value: (load: LoadResult) => number) =>
    median(rounds.map((round) => value(round.loads[load] as LoadResult)));
  return {
    name,
    version,
    durability,
    loads: loads.map((load, i) => ({
      function: load.function,
      senders: load.senders,
      runsPerSecond: medianOf(i, ({ runsPerSecond }) => runsPerSecond),
      p50Ms: medianOf(i, ({ p50Ms }) => p50Ms),
      p99Ms: medianOf(i, ({ p99Ms }) => p99Ms),
      cpuMs: Object.fromEntries(
        PARTS.map((part) => [part, medianOf(i, ({ cpuMs }) => cpuMs[part])]),
      ) as LoadResult['cpuMs'],
    })),
  };
}

/** With a plus when the working copy differs from it. */
function commitOf(): string {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? '+' : '');
}
