/** With what a child process is forked: what it may reach, and how its memory grows. */
import type { ForkOptions } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const CHILD = fileURLToPath(new URL('../sandbox/child.ts', import.meta.url));

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const READABLE = [
  `${ROOT}package.json`,
  fileURLToPath(new URL('../', import.meta.url)),
  `${ROOT}node_modules/`,
  `${realpathSync(`${ROOT}node_modules`)}/`,
  // isolated-vm looks which C library there is.
  '/etc/alpine-release',
];

/** The child has an empty environment, and by Node.js's permission model no file but its own code, no processes to start and no
 *  inspector. isolated-vm is native code, and its isolates live in threads. */
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

/** On Linux, a machine short of memory then takes this process and not its parent. */
export function volunteerForTheOutOfMemoryKiller(pid: number | undefined) {
  try {
    if (pid !== undefined) writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {}
}
