/** Programs in other languages: run to their end, or kept running as hosts of functions. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Finding {
  /** -1: it could not be started, or was ended by a signal. */
  exitCode: number;
  /** What it wrote. */
  output: string;
}

export interface ProgramOptions {
  cwd: string;
  /** Over the environment of the tests. */
  env?: Record<string, string>;
}

/** Longest that a program may take: less than mocha gives the slowest test, so that none is left running. */
const PATIENCE_MS = 270_000;

/** Runs it to its end; it reads nothing. */
export async function run(program: string, args: string[], { cwd, env }: ProgramOptions): Promise<Finding> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  const straggler = setTimeout(() => child.kill(), PATIENCE_MS);
  const [exitCode, signal] = await once(child, 'close').catch((error: Error) => [null, error.message]);
  clearTimeout(straggler);
  return { exitCode: exitCode ?? -1, output: exitCode === null ? `${output()}\n${signal}` : output() };
}

/** @throws with what it wrote, when it does not end well. @returns what it wrote */
export async function must(program: string, args: string[], options: ProgramOptions): Promise<string> {
  const { exitCode, output } = await run(program, args, options);
  if (exitCode !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${exitCode}:\n${output}`);
  return output;
}

/** A program that hosts an app: it listens at a free port, says `{"url": …}` on its first line, and ends when its stdin does. */
export interface HostProgram {
  /** The app's one URL. */
  url: string;
  /** All that it has written so far. */
  output(): string;
  /** @throws when it does not end in order */
  stop(): Promise<void>;
}

const END_MS = 10_000;

/** @throws with its output when it ends before it listens */
export async function startHost(program: string, args: string[], { cwd, env }: ProgramOptions): Promise<HostProgram> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const output = collect(child);
  const closed = once(child, 'close');
  const failure = (what: string) => new Error(`${program} ${what}. Its output:\n${output() || '(none)'}`);

  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), closed.then(() => undefined)]);
  if (!first) throw failure(`ended before it listened (exit code ${child.exitCode})`);
  return {
    url: JSON.parse(first[0]).url,
    output,
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
