/** Runs programs in other languages: to their end, or as hosts of functions. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface ProgramResult {
  /** -1: it did not start, or a signal ended it. */
  exitCode: number;
  /** Its output. */
  output: string;
}

export interface ProgramOptions {
  cwd: string;
  /** Added to the environment of the tests. */
  env?: Record<string, string>;
}

/** Time limit of a program: less than the timeout of the slowest test, so that none keeps running. */
const PATIENCE_MS = 570_000;

/** Runs a program to its end, without input. */
export async function run(program: string, args: string[], { cwd, env }: ProgramOptions): Promise<ProgramResult> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  const straggler = setTimeout(() => child.kill(), PATIENCE_MS);
  const [exitCode, signal] = await once(child, 'close').catch((error: Error) => [null, error.message]);
  clearTimeout(straggler);
  return { exitCode: exitCode ?? -1, output: exitCode === null ? `${output()}\n${signal}` : output() };
}

/** @throws with its output if it fails. @returns its output */
export async function must(program: string, args: string[], options: ProgramOptions): Promise<string> {
  const { exitCode, output } = await run(program, args, options);
  if (exitCode !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${exitCode}:\n${output}`);
  return output;
}

/** A program that hosts an app: listens on a free port, then prints the line `{"url": …}`, and exits when its stdin closes. */
export interface HostProgram {
  /** The app's URL. */
  url: string;
  pid: number;
  /** Its output so far. */
  output(): string;
  /** Resolves when it has died. */
  kill(): Promise<void>;
  /** @throws if it does not exit cleanly */
  stop(): Promise<void>;
}

const END_MS = 30_000;

/** @throws with its output if it exits before it listens */
export async function startHost(program: string, args: string[], { cwd, env }: ProgramOptions): Promise<HostProgram> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const output = collect(child);
  const closed = once(child, 'close');
  const failure = (what: string) => new Error(`${program} ${what}. Its output:\n${output() || '(none)'}`);

  const lines = createInterface({ input: child.stdout });
  // Its client may have logged something before.
  const told = new Promise<string>((resolve) => lines.on('line', (line) => line.startsWith('{"url"') && resolve(line)));
  const first = await Promise.race([told, closed.then(() => undefined)]);
  if (!first) throw failure(`ended before it listened (exit code ${child.exitCode})`);
  return {
    url: JSON.parse(first).url,
    pid: child.pid as number,
    output,
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
    async stop() {
      const straggler = setTimeout(() => child.kill('SIGKILL'), END_MS);
      child.stdin.end();
      await closed;
      clearTimeout(straggler);
      if (child.exitCode !== 0)
        throw failure(`did not end in order (${child.signalCode ?? `exit code ${child.exitCode}`})`);
    },
  };
}

function collect(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return () => output;
}
