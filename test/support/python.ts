/** Python virtual environments, cached in .data. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { must } from './program.ts';

const DATA = resolve(import.meta.dirname, '../../.data');

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
