/** Installs system programs where this needs no password: with apt-get as root, or with brew. */
import { spawnSync } from 'node:child_process';

export interface SystemPackage {
  /** Display name, such as "Redis". */
  name: string;
  debian: string;
  /** Arguments of `brew install`. */
  brew: readonly string[];
}

/** Reports on stderr. @returns whether it succeeded */
export function installPackage({ name, debian, brew }: SystemPackage): boolean {
  if (runs('apt-get', ['--version'])) {
    const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
    if (asRoot.length > 0 && !runs('sudo', ['-n', 'true'])) return false;
    const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
    return told(name, [...apt, 'update']) && told(name, [...apt, 'install', '-y', '--no-install-recommends', debian]);
  }
  return runs('brew', ['--version']) && told(name, ['brew', 'install', ...brew]);
}

function runs(file: string, args: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}

/** Runs a command that changes the machine, and prints it first. Its output goes to stderr, like everything except results. */
function told(name: string, [file = '', ...args]: string[]): boolean {
  console.error(`Installing ${name}: ${file} ${args.join(' ')}`);
  return spawnSync(file, args, { stdio: ['ignore', 2, 2] }).status === 0;
}
