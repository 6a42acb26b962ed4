/** The command line (cli/) in tests, against a real service: in the process of the tests, or as the real program, with which test/docs/cli-doc.test.ts runs
 *  the examples of docs/cli.md. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runProgram } from '../../cli/src/program.ts';
import type { Service } from './service.ts';
import { until } from './until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
export const MAIN = resolve(ROOT, 'cli/src/main.ts');
/** A run of all tests bundles it: a command starts with two thirds of the CPU time. */
export const PROGRAM = process.env.TEST_CLI ?? MAIN;
/** They start processes themselves. */
const STARTING = ['dev', 'start'];
/** Time limit of a command that must end. */
const PATIENCE_MS = 90_000;

export interface CliOptions {
  /** Where its requests go, with the service's API key and event key. */
  service?: Service;
  env?: Record<string, string>;
  /** For its stdin; without it stdin is empty. */
  input?: string;
  cwd?: string;
  /** Another program, such as the sources. */
  program?: string;
}

export interface CliResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** stdout as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  readonly json: any;
}

/** Runs a command to its end: without a process of its own, unless it is of another program, or starts processes. */
export async function cli(args: string[], options: CliOptions = {}): Promise<CliResult> {
  const { program, cwd } = options;
  const needsProcess = program !== undefined || STARTING.includes(args[0] ?? '');
  if (!needsProcess)
    return cwd === undefined ? inProcess(args, options) : inFolder(cwd, () => inProcess(args, options));
  const command = startCli(args, options);
  command.child.stdin?.end(options.input ?? '');
  const straggler = setTimeout(() => command.child.kill('SIGKILL'), PATIENCE_MS);
  const exitCode = await command.exitCode;
  clearTimeout(straggler);
  return resultOf(exitCode, command.stdout(), command.stderr());
}

/** The folder is that of the whole process, so one command at a time may have one. */
async function inFolder<T>(cwd: string, work: () => Promise<T>): Promise<T> {
  if (process.cwd() !== ROOT) throw new Error(`Another command is in ${process.cwd()}`);
  process.chdir(cwd);
  try {
    return await work();
  } finally {
    process.chdir(ROOT);
  }
}

async function inProcess(args: string[], { service, env, input }: CliOptions): Promise<CliResult> {
  const printed = { stdout: '', stderr: '' };
  const to = (name: keyof typeof printed) =>
    new Writable({
      decodeStrings: false,
      write(text, _, done) {
        printed[name] += text;
        done();
      },
    });
  const exitCode = await runProgram({
    args,
    variables: { ...ownVariables(), ...(service && variablesOf(service)), ...env },
    stdin: Readable.from(input === undefined ? [] : [Buffer.from(input)]),
    stdout: to('stdout'),
    stderr: to('stderr'),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return resultOf(exitCode, printed.stdout, printed.stderr);
}

function resultOf(exitCode: number, stdout: string, stderr: string): CliResult {
  return {
    exitCode,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout);
    },
  };
}

/** The result of a command that must succeed. @throws with its output otherwise */
export async function cliOk(args: string[], options: CliOptions = {}): Promise<CliResult> {
  const result = await cli(args, options);
  if (result.exitCode === 0) return result;
  throw new Error(`tidegate ${args.join(' ')} ended with ${result.exitCode}:\n${result.stdout}\n${result.stderr}`);
}

export interface CliCommand {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** -1: a signal ended it. */
  exitCode: Promise<number>;
  /** Resolves when its output has the text, or matches. */
  prints(what: string | RegExp): Promise<string>;
  /** Ctrl-C. @returns the exit code */
  interrupt(): Promise<number>;
}

/** Starts a command that goes on, such as `tail`. */
export function startCli(
  args: string[],
  { service, env = {}, cwd = ROOT, program = PROGRAM }: CliOptions = {},
): CliCommand {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...ownVariables(), ...(service && variablesOf(service)), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  // It may end before it has read its input.
  child.stdin.on('error', () => {});
  let hasEnded = false;
  const exitCode = once(child, 'close').then(([code]) => {
    hasEnded = true;
    return code ?? -1;
  });
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    exitCode,
    async prints(what) {
      const output = () => stdout + stderr;
      const found = () => (typeof what === 'string' ? output().includes(what) : what.test(output()));
      await until(() => found() || hasEnded, {
        describe: () => `tidegate ${args.join(' ')} prints ${what}; it printed:\n${stdout}\n${stderr}`,
      });
      if (!found()) throw new Error(`tidegate ${args.join(' ')} ended without ${what}:\n${stdout}\n${stderr}`);
      return output();
    },
    async interrupt() {
      child.kill('SIGINT');
      return exitCode;
    },
  };
}

/** The settings by which the program finds the service. */
export function variablesOf(service: Service): Record<string, string> {
  const { API_KEY, EVENT_KEYS } = service.env;
  return {
    TIDEGATE_URL: service.url,
    ...(API_KEY && { TIDEGATE_API_KEY: API_KEY }),
    ...(EVENT_KEYS && { TIDEGATE_EVENT_KEY: EVENT_KEYS.split(',')[0] as string }),
  };
}

/** Excludes the developer's own settings. */
function ownVariables(): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, HOME, NODE_COMPILE_CACHE, NODE_V8_COVERAGE } = process.env;
  return { PATH, TMPDIR, HOME, NODE_COMPILE_CACHE, NODE_V8_COVERAGE };
}
