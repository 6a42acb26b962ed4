/** `scripts/bench --against <folder>`: runs the functions of `--peers` on this checkout and on another one, such as of an earlier commit. Rounds
 *  of both alternate, because the speed of a shared machine changes between minutes: compare the ratios. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Problem } from '../../scripts/lib/problem.ts';
import type { Benchmark } from '../bench.ts';
import type { BenchProcess } from '../processes.ts';
import { ROOT } from '../processes.ts';
import { median } from '../statistics.ts';
import { formatNumber, table } from '../table.ts';
import type { Engine, OpenEngine } from './engine.ts';
import { FUNCTION_NAMES, type FunctionName } from './functions.ts';
import { type LoadResult, SENDERS } from './results.ts';
import { measureLoad, openWarm } from './run.ts';
import type { Session } from './session.ts';

const ENGINES_FILE = 'bench/peers/engines/tidegate.ts';
const SESSION_FILE = 'bench/peers/session.ts';

interface Load {
  name: FunctionName;
  senders: number;
}

/** Both checkouts, in the order of the rounds: the other one, this one. */
type Pair<T> = readonly [other: T, own: T];

export async function compareCheckouts(bench: Benchmark): Promise<void> {
  const { against = '', only } = bench.options;
  const folders: Pair<string> = [resolve(against), ROOT];
  for (const file of [ENGINES_FILE, SESSION_FILE]) {
    if (!existsSync(resolve(against, file)))
      throw new Problem(`--against: ${against} has no ${file}; expected the folder of another checkout of Tidegate`);
  }
  const all = ['Tidegate', 'Tidegate, appendfsync always'];
  const names = all.filter((name) => only === undefined || name.toLowerCase().includes(only));
  if (names.length === 0) throw new Problem(`--only matches no engine. Engines:\n  ${all.join('\n  ')}`);
  for (const name of names) {
    const other = await sessionOf(bench, folders[0]);
    const own = await sessionOf(bench, folders[1]);
    const lines = await bench.using(other, () => bench.using(own, () => measurePair(name, folders, [other, own])));
    const heads = ['function, senders', 'runs/s', 'p50', 'p99', 'CPU of server and store'];
    console.log(
      `${name}: this checkout, and its ratio to the other (least to most of the rounds)\n${table(heads, lines)}\n`,
    );
  }
}

/** The session class of a checkout starts its processes in its folder. */
async function sessionOf(bench: Benchmark, folder: string): Promise<Session> {
  const { Session: CheckoutSession } = await import(pathToFileURL(resolve(folder, SESSION_FILE)).href);
  return new CheckoutSession(bench);
}

async function measurePair(name: string, folders: Pair<string>, sessions: Pair<Session>): Promise<string[][]> {
  const [{ bench }] = sessions;
  const opened: { open: OpenEngine; sender: BenchProcess }[] = [];
  for (const [i, folder] of folders.entries()) {
    const { TIDEGATE } = await import(pathToFileURL(resolve(folder, ENGINES_FILE)).href);
    const engine = (TIDEGATE as readonly Engine[]).find((known) => known.name === name);
    if (!engine) throw new Problem(`--against: ${folder} has no engine "${name}"`);
    bench.progress(`${name}: starting ${folder}`);
    opened.push(await openWarm(engine, sessions[i] as Session));
  }
  const lines: string[][] = [];
  for (const load of FUNCTION_NAMES.flatMap((name) => SENDERS.map((senders): Load => ({ name, senders })))) {
    bench.progress(`${name}: ${load.name}, senders: ${load.senders}`);
    const rounds: [LoadResult[], LoadResult[]] = [[], []];
    for (let round = 0; round < bench.options.rounds; round++) {
      for (const i of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const { open, sender } = opened[i] as (typeof opened)[number];
        rounds[i].push(await measureLoad(sessions[i], open, sender, load));
      }
    }
    lines.push(lineOf(load, rounds));
  }
  return lines;
}

const cpuOf = ({ cpuMs: { server, store } }: LoadResult) => server + store;

/** @param rounds as many of each checkout, in order */
export function lineOf({ name, senders }: Load, [other, own]: Pair<readonly LoadResult[]>): string[] {
  const cell = (value: (load: LoadResult) => number, unit: string) => {
    const ratios = own.map((load, i) => value(load) / value(other[i] as LoadResult));
    const [least, middle, most] = [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((ratio) =>
      ratio.toFixed(2),
    );
    return `${formatNumber(median(own.map(value)))}${unit}: ${middle} × (${least} to ${most})`;
  };
  return [
    `${name}, ${senders}`,
    cell(({ runsPerSecond }) => runsPerSecond, ''),
    cell(({ p50Ms }) => p50Ms, ' ms'),
    cell(({ p99Ms }) => p99Ms, ' ms'),
    cell(cpuOf, ' ms'),
  ];
}
