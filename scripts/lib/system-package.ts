/** Installing programs of the system, where that is possible without asking anybody: by apt-get as root, or by brew. */
import { spawnSync } from 'node:child_process';

export interface SystemPackage {
  /** What people call it: "Redis". */
  name: string;
  debian: string;
  /** Arguments of `brew install`. */
  brew: readonly string[];
}

/** @returns whether it was installed; it says on stderr what it does */
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

/** Runs a command that changes the machine, and says so first. Its output goes to stderr, as all that is not a result. */
function told(name: string, [file = '', ...args]: string[]): boolean {
  console.error(`Installing ${name}: ${file} ${args.join(' ')}`);
  return spawnSync(file, args, { stdio: ['ignore', 2, 2] }).status === 0;
}
