/** schemathesis (PyPI): makes requests of an OpenAPI document and checks the answers against it. Kept in .data from run to run. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const VERSION = '4.32.5';
const DATA = resolve(import.meta.dirname, '../../.data');

export interface Finding {
  exitCode: number;
  /** What it wrote. */
  output: string;
}

/** @returns the program's path. @throws when there is no Python 3 with venv, or it cannot be installed */
export async function installSchemathesis(): Promise<string> {
  const home = join(DATA, `schemathesis-${VERSION}`);
  const program = join(home, 'bin/st');
  if (existsSync(join(home, 'installed'))) return program;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(DATA, { recursive: true });
  await must('python3', ['-m', 'venv', home], 'This test needs Python 3 with venv (Debian: apt install python3-venv)');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`];
  await must(join(home, 'bin/python'), pip, 'schemathesis could not be installed from PyPI');
  // Last, so that an installation that was interrupted is begun anew.
  mkdirSync(join(home, 'installed'));
  return program;
}

/** @param cwd it leaves things there */
export async function run(program: string, args: string[], cwd: string): Promise<Finding> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [exitCode] = await once(child, 'close').catch((error: Error) => [error.message]);
  return { exitCode: typeof exitCode === 'number' ? exitCode : -1, output: output || String(exitCode) };
}

async function must(program: string, args: string[], otherwise: string): Promise<void> {
  const { exitCode, output } = await run(program, args, DATA);
  if (exitCode !== 0) throw new Error(`${otherwise}. ${program} ${args.join(' ')}: ${output}`);
}
