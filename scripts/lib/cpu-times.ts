/** How much CPU time the descendants of this process take, by kind. Linux only: elsewhere nothing is measured. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The first whose pattern is in the command line. */
const KINDS: readonly [string, RegExp][] = [
  ['Chromium', /chrom/],
  ['Redis', /redis-server|valkey-server/],
  ['Postgres', /postgres/],
  ['web', /(src|service)\/web\.[jt]s/],
  ['worker', /(src|service)\/worker\.[jt]s/],
  ['transforms', /transforms\/(sandbox\/)?child\.[jt]s/],
  ['mocha', /bin\/mocha/],
  ['type check', /\btsc\b|pyright|mypy/],
  ['npm', /\bnpm\b/],
  ['Python', /python|pytest/],
  ['Go', /\bgo\b|\/go-build/],
];
const SAMPLE_MS = 1_000;
/** Linux counts in these, whatever the machine's own clock does. */
const TICKS_PER_SECOND = 100;

/** Samples after which a process keeps its kind: a program that replaces another in the same process does so at its start. */
const KIND_SAMPLES = 3;

interface Sample {
  kind: string;
  ticks: number;
  samples: number;
}

export class CpuTimes {
  /** The last sample of each process: a process is gone when it has ended. */
  readonly #samples = new Map<string, Sample>();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
    this.#timer.unref();
  }

  /** Seconds by kind, the most first. Processes that were too short to be seen are `short-lived`. */
  stop(): [string, number][] {
    clearInterval(this.#timer);
    this.#sample();
    const seconds = new Map<string, number>();
    for (const { kind, ticks } of this.#samples.values()) {
      seconds.set(kind, (seconds.get(kind) ?? 0) + ticks / TICKS_PER_SECOND);
    }
    const seen = [...seconds.values()].reduce((sum, some) => sum + some, 0);
    const ended = statOf('self')?.endedTicks ?? 0;
    seconds.set('short-lived', Math.max(0, ended / TICKS_PER_SECOND - seen));
    return [...seconds].sort(([, a], [, b]) => b - a);
  }

  #sample(): void {
    if (!existsSync('/proc/self/stat')) return;
    const running = new Map<number, NonNullable<ReturnType<typeof statOf>>>();
    for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const stat = statOf(name);
      if (stat) running.set(Number(name), stat);
    }
    for (const [pid, { parent, started, ticks }] of running) {
      if (!isDescendant(parent, running)) continue;
      const key = `${pid} ${started}`;
      const last = this.#samples.get(key);
      const samples = (last?.samples ?? 0) + 1;
      const kind = samples <= KIND_SAMPLES ? (kindOf(pid) ?? last?.kind ?? 'other') : (last?.kind ?? 'other');
      this.#samples.set(key, { kind, ticks, samples });
    }
  }
}

/** CPU time of this process and of its descendants that have ended. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (statOf('self')?.endedTicks ?? 0) / TICKS_PER_SECOND;
}

function isDescendant(parent: number, running: ReadonlyMap<number, { parent: number }>): boolean {
  for (let pid = parent; pid > 1; pid = running.get(pid)?.parent ?? 0) if (pid === process.pid) return true;
  return false;
}

/** undefined: it has ended. */
function kindOf(pid: number): string | undefined {
  const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  return command === '' ? undefined : (KINDS.find(([, pattern]) => pattern.test(command))?.[0] ?? 'other');
}

/** @returns `endedTicks`: of its descendants that have ended, as far as their parents have noticed */
function statOf(pid: string) {
  const stat = read(`/proc/${pid}/stat`);
  // pid (program) state parent …: the program's name may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 20) return undefined;
  const field = (number: number) => Number(fields[number - 3]);
  return { parent: field(4), ticks: field(14) + field(15), endedTicks: field(16) + field(17), started: field(22) };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
