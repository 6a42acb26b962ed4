/** Options for forking the child process: what it may access, and how its memory grows. */
import type { ForkOptions } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHILD } from '../sandbox/program.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const READABLE = [
  `${ROOT}package.json`,
  `${dirname(CHILD)}/`,
  fileURLToPath(new URL('../protocol.ts', import.meta.url)),
  ...new Set(['isolated-vm', 'lru-cache', 'piscina'].flatMap(foldersOf)),
  // isolated-vm checks which C library the system has.
  '/etc/alpine-release',
];

/** The child has an empty environment. Node.js's permission model denies it all files except its own code, and also child processes and the
 *  inspector. It may load addons and start threads: isolated-vm is native code, and isolates live in threads. */
export function forkOptions(): ForkOptions {
  return {
    env: {},
    execArgv: [
      '--permission',
      '--allow-addons',
      '--allow-worker',
      ...READABLE.map((path) => `--allow-fs-read=${path}`),
      '--no-node-snapshot',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
      '--max-semi-space-size=4',
      '--heap-growing-percent=30',
    ],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  };
}

/** The node_modules that contain the package, as a link or a folder: in this tree, or, if the service is installed as a
 *  package, in the service or in the project that installed it. */
function foldersOf(name: string): string[] {
  const folder = createRequire(import.meta.url)
    .resolve.paths(name)
    ?.find((path) => existsSync(join(path, name)));
  if (!folder) return [];
  return [folder, realpathSync(folder), dirname(realpathSync(join(folder, name)))].map((path) => `${path}/`);
}

/** Makes Linux's out-of-memory killer choose this process before its parent. */
export function preferForOutOfMemoryKill(pid: number | undefined) {
  try {
    if (pid !== undefined) writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {}
}
