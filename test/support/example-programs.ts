/** Runs programs of examples/ in each language, on a port of the test's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../scripts/lib/ports.ts';
import { request } from './http.ts';
import { must } from './program.ts';
import { installPython } from './python.ts';
import { until } from './until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Holds the programs, with a port of the test's in them. */
const WORK = join(ROOT, '.data/readme');
/** Where the examples listen. */
const EXAMPLE_PORT = '3000';

type Command = [program: string, args: string[]];

export interface ExampleLanguage {
  name: string;
  first: string;
  sends: string;
  flow: string;
  connected: string;
  /** Has middleware that encrypts. */
  middleware?: string;
  /** Shows `first` and `sends`. */
  page: string;
  /** Links to `flow`. */
  flowPage: string;
  /** Prepares a program. @returns the command that starts it */
  prepare(file: string, code: string): Promise<Command>;
}

export const LANGUAGES: readonly ExampleLanguage[] = [
  {
    name: 'TypeScript',
    page: 'README.md',
    flowPage: 'clients/typescript/README.md',
    first: 'examples/typescript/first-function.ts',
    sends: 'examples/typescript/send-event.ts',
    flow: 'examples/typescript/flow-control.ts',
    connected: 'examples/typescript/connected.ts',
    async prepare(file, code) {
      return [process.execPath, [write(`${file}.ts`, code)]];
    },
  },
  {
    name: 'Python',
    page: 'clients/python/README.md',
    flowPage: 'clients/python/README.md',
    first: 'examples/python/first_function.py',
    sends: 'examples/python/send_event.py',
    flow: 'examples/python/flow_control.py',
    connected: 'examples/python/connected.py',
    middleware: 'examples/python/middleware.py',
    async prepare(file, code) {
      const bin = await installPython('example-python', join(ROOT, 'examples/python/requirements.txt'));
      return [join(bin, 'python'), [write(`${file}.py`, code)]];
    },
  },
  {
    name: 'Go',
    page: 'clients/go/README.md',
    flowPage: 'clients/go/README.md',
    first: 'examples/go/first-function/main.go',
    sends: 'examples/go/send-event/main.go',
    flow: 'examples/go/flow-control/main.go',
    connected: 'examples/go/connected/main.go',
    middleware: 'examples/go/middleware/main.go',
    async prepare(file, code) {
      const main = write(`${file}/main.go`, code);
      const module = readFileSync(join(ROOT, 'examples/go/go.mod'), 'utf8');
      write(`${file}/go.mod`, module.replace('../../clients/go', join(ROOT, 'clients/go')));
      write(`${file}/go.sum`, readFileSync(join(ROOT, 'examples/go/go.sum'), 'utf8'));
      await must('go', ['build', '-o', 'program', '.'], { cwd: dirname(main) });
      return [join(dirname(main), 'program'), []];
    },
  },
];

/** An example in a page: the file that it shows, and its code. */
const EXAMPLE = /<!-- (examples\/\S+) -->\n```\w+\n([\s\S]*?)```/g;

/** The page shows these files as they are, and no others. */
export function expectExamples(page: string, files: readonly string[]): void {
  const shown = [...readFileSync(join(ROOT, page), 'utf8').matchAll(EXAMPLE)].map(([, file, code]) => [file, code]);
  expect(shown).to.deep.equal(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
}

export interface HostedExample {
  /** Where it registers. */
  url: string;
  stop(): Promise<void>;
}

/** Starts a program that hosts functions. Resolves when it responds. */
export async function hostExample(language: ExampleLanguage, file: string, serviceUrl: string): Promise<HostedExample> {
  const port = await freePort();
  const code = readFileSync(join(ROOT, file), 'utf8').replace(EXAMPLE_PORT, String(port));
  const [program, args] = await language.prepare('host', code);
  const child = start(program, args, serviceUrl);
  const url = `http://127.0.0.1:${port}/api/service`;
  const responds = () =>
    request('GET', url).then(
      () => true,
      () => false,
    );
  await until(responds, { describe: () => `${url} responds` }).catch(async (error) => {
    await end(child);
    throw error;
  });
  return { url, stop: () => end(child).then(() => undefined) };
}

export interface ConnectedExample {
  /** Sends SIGTERM. @returns the exit code; null: a signal has ended it */
  terminate(): Promise<number | null>;
  stop(): Promise<void>;
}

/** Starts a program that connects. */
export async function connectExample(language: ExampleLanguage, serviceUrl: string): Promise<ConnectedExample> {
  const code = readFileSync(join(ROOT, language.connected), 'utf8');
  const [program, args] = await language.prepare('connected', code);
  const child = start(program, args, serviceUrl);
  return { terminate: () => end(child, 'SIGTERM'), stop: () => end(child).then(() => undefined) };
}

function start(program: string, args: string[], serviceUrl: string): ChildProcess {
  return spawn(program, args, { env: { ...process.env, ...environment(serviceUrl) }, stdio: 'ignore' });
}

/** Runs a program to its end. @returns its output */
export async function runExample(language: ExampleLanguage, file: string, serviceUrl: string): Promise<string> {
  const [program, args] = await language.prepare('sender', readFileSync(join(ROOT, file), 'utf8'));
  return must(program, args, { cwd: WORK, env: environment(serviceUrl) });
}

export function removeExamplePrograms(): void {
  rmSync(WORK, { recursive: true, force: true });
}

function environment(serviceUrl: string): Record<string, string> {
  return {
    SERVICE_DEV: serviceUrl,
    PYTHONPATH: join(ROOT, 'clients/python/src'),
    ENCRYPTION_KEY: 'an encryption key of the tests of the examples',
  };
}

function write(file: string, code: string): string {
  const path = join(WORK, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
  return path;
}

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}
