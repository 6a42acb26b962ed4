/** The packages of the Python client, built with the tools of its requirements-dev.txt. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../problem.ts';
import { command } from './command.ts';

const TOOLS = /^(build|hatchling)==.*$/gm;

/** @param out gets wheel and sdist
 *  @param epoch of the files, in Unix seconds */
export async function buildPythonPackages(root: string, out: string, epoch: string): Promise<void> {
  const client = join(root, 'clients/python');
  const python = await installTools(root, join(client, 'requirements-dev.txt'));
  const env = { SOURCE_DATE_EPOCH: epoch, PYTHONDONTWRITEBYTECODE: '1' };
  await command(python, ['-m', 'build', '--no-isolation', '--outdir', out, client], { cwd: root, env });
}

/** Into .data; reuses what is there. @returns the environment's Python */
async function installTools(root: string, requirements: string): Promise<string> {
  const tools = readFileSync(requirements, 'utf8').match(TOOLS) ?? [];
  const home = join(root, '.data/release-python');
  const python = join(home, 'bin/python');
  const stamp = join(home, 'installed.txt');
  if (existsSync(python) && existsSync(stamp) && readFileSync(stamp, 'utf8') === tools.join('\n')) return python;

  rmSync(home, { recursive: true, force: true });
  mkdirSync(join(root, '.data'), { recursive: true });
  await command('python3', ['-m', 'venv', home], { cwd: root }).catch(({ message }) => {
    throw new Problem(`The Python client needs Python 3 with venv (Debian: apt install python3-venv). ${message}`);
  });
  await command(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...tools], { cwd: root });
  // Last, so that an interrupted installation starts over.
  writeFileSync(stamp, tools.join('\n'));
  return python;
}
