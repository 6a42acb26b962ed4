/** Installs system packages without prompts: with apt-get as root, or with brew. */
import { spawnSync } from 'node:child_process';

export interface SystemPackage {
  /** Display name, such as "Redis". */
  name: string;
  debian: string;
  /** Arguments of `brew install`. */
  brew: readonly string[];
}

/** @returns whether it was installed. Prints each command to stderr. */
export function installPackage({ name, debian, brew }: SystemPackage): boolean {
  if (runs('apt-get', ['--version'])) {
    const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
    if (asRoot.length > 0 && !runs('sudo', ['-n', 'true'])) return false;
    const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
    return (
      runAnnounced(name, [...apt, 'update']) &&
      runAnnounced(name, [...apt, 'install', '-y', '--no-install-recommends', debian])
    );
  }
  return runs('brew', ['--version']) && runAnnounced(name, ['brew', 'install', ...brew]);
}

function runs(file: string, args: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}

/** Prints and runs a command that changes the machine. Its output goes to stderr. */
function runAnnounced(name: string, [file = '', ...args]: string[]): boolean {
  console.error(`Installing ${name}: ${file} ${args.join(' ')}`);
  return spawnSync(file, args, { stdio: ['ignore', 2, 2] }).status === 0;
}
