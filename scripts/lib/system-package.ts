/** Installs system packages without prompts: with apt-get as root, or with brew. */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

export interface SystemPackage {
  /** Display name, such as "Redis". */
  name: string;
  debian: string;
  /** Arguments of `brew install`. */
  brew: readonly string[];
  /** A file that is there while apt-get installs the package. */
  debianConfig?: { file: string; text: string };
}

/** @returns whether it was installed. Prints each command to stderr. */
export function installPackage({ name, debian, brew, debianConfig }: SystemPackage): boolean {
  if (runs('apt-get', ['--version'])) {
    const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
    if (asRoot.length > 0 && !runs('sudo', ['-n', 'true'])) return false;
    const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
    const install = () =>
      runAnnounced(name, [...apt, 'update']) &&
      runAnnounced(name, [...apt, 'install', '-y', '--no-install-recommends', debian]);
    return debianConfig ? withFile(name, asRoot, debianConfig, install) : install();
  }
  return runs('brew', ['--version']) && runAnnounced(name, ['brew', 'install', ...brew]);
}

function withFile(
  name: string,
  asRoot: readonly string[],
  { file, text }: { file: string; text: string },
  work: () => boolean,
): boolean {
  const write = `mkdir -p ${dirname(file)} && echo '${text}' > ${file}`;
  if (!runAnnounced(name, [...asRoot, 'sh', '-c', write])) return false;
  try {
    return work();
  } finally {
    runAnnounced(name, [...asRoot, 'rm', '-f', file]);
  }
}

function runs(file: string, args: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}

/** Prints and runs a command that changes the machine. Its output goes to stderr. */
function runAnnounced(name: string, [file = '', ...args]: string[]): boolean {
  console.error(`Installing ${name}: ${file} ${args.join(' ')}`);
  return spawnSync(file, args, { stdio: ['ignore', 2, 2] }).status === 0;
}
