/** Python virtual environments, kept in .data from run to run. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { must } from './program.ts';

const DATA = resolve(import.meta.dirname, '../../.data');

/** Makes the environment .data/<name> with what the requirements file lists; one that is there with the same list is taken as it is.
 *  @returns the folder of its programs. @throws when there is no Python 3 with venv, or PyPI does not give what is listed */
export async function installPython(name: string, requirementsFile: string): Promise<string> {
  const home = join(DATA, name);
  const bin = join(home, 'bin');
  const stamp = join(home, 'installed.txt');
  const wanted = readFileSync(requirementsFile, 'utf8');
  // Its python is a link, which hangs in the air when the system's Python has been replaced.
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
  // Last, so that an installation that was interrupted is begun anew.
  writeFileSync(stamp, wanted);
  return bin;
}

async function explained(message: string, program: string, args: string[]): Promise<void> {
  await must(program, args, { cwd: DATA }).catch((cause: Error) => {
    throw new Error(`${message}. ${cause.message}`, { cause });
  });
}
