/** Python virtual environments, cached in .data. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type HostProgram, must, startHost } from './program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DATA = join(ROOT, '.data');
const PROGRAMS = join(ROOT, 'test/python');
/** What serves the apps of the tests. */
const HOSTS = { name: 'python-hosts', requirements: join(PROGRAMS, 'requirements.txt') };

/** Creates the environment .data/<name> from a requirements file; reuses one with the same requirements.
 *  @returns the folder of its programs. @throws if Python 3 with venv is missing, or the installation fails */
export async function installPython(name: string, requirementsFile: string): Promise<string> {
  const home = join(DATA, name);
  const bin = join(home, 'bin');
  const stamp = join(home, 'installed.txt');
  const wanted = readFileSync(requirementsFile, 'utf8');
  // Its `python` is a link, which breaks when the system's Python is replaced.
  if (existsSync(join(bin, 'python')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return bin;

  rmSync(home, { recursive: true, force: true });
  mkdirSync(DATA, { recursive: true });
  await explained('These tests need Python 3 with venv (Debian: apt install python3-venv)', 'python3', [
    '-m',
    'venv',
    home,
  ]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', requirementsFile];
  await explained(`Could not be installed from PyPI: ${requirementsFile}`, join(bin, 'python'), pip);
  // Last, so that an interrupted installation starts over.
  writeFileSync(stamp, wanted);
  return bin;
}

async function explained(message: string, program: string, args: string[]): Promise<void> {
  await must(program, args, { cwd: DATA }).catch((cause: Error) => {
    throw new Error(`${message}. ${cause.message}`, { cause });
  });
}

/** Starts a program of test/python that hosts an app of our client.
 *  @param name, requirements the environment that it needs */
export async function startPythonHost(
  program: string,
  env: Record<string, string>,
  { name, requirements } = HOSTS,
): Promise<HostProgram> {
  const bin = await installPython(name, requirements);
  const client = { PYTHONPATH: join(ROOT, 'clients/python/src'), PYTHONDONTWRITEBYTECODE: '1' };
  return startHost(join(bin, 'python'), [program], { cwd: PROGRAMS, env: { ...env, ...client } });
}
