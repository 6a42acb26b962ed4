/** The packages of other engines. A lock file beside this one names them; they are installed into .data/peers, where only the apps of this
 *  benchmark find them. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Problem } from '../../scripts/lib/problem.ts';
import { ROOT } from '../processes.ts';

const FOLDER = join(ROOT, '.data/peers');
const FILES = ['package.json', 'package-lock.json'];
/** A copy of the lock file whose packages are all there. */
const STAMP = 'installed-package-lock.json';

/** @throws Problem when npm fails */
export function installPeers(): void {
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  const lock = join(import.meta.dirname, 'package-lock.json');
  if (read(join(FOLDER, STAMP)) === read(lock)) return;
  mkdirSync(FOLDER, { recursive: true });
  rmSync(join(FOLDER, STAMP), { force: true });
  for (const file of FILES) copyFileSync(join(import.meta.dirname, file), join(FOLDER, file));
  console.error('Installing the other engines into .data/peers (npm ci: 240 MB) …');
  // None of them needs its install script; one reports to an analytics service.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: FOLDER, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Problem('npm could not install the other engines; its message is above.');
  copyFileSync(lock, join(FOLDER, STAMP));
}

/** Loads a package of another engine. Its types are not there for the type check: the caller declares what it uses. */
export function requirePeer<T>(name: string): T {
  return createRequire(join(FOLDER, 'package.json'))(name) as T;
}

/** @param root of the installation */
export function installedVersion(name: string, root = FOLDER): string {
  const file = join(root, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** The path of a file in a package. */
export function peerFile(name: string, file: string): string {
  return join(FOLDER, 'node_modules', name, file);
}
