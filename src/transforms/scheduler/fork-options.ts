/** Options for forking the child process: what it may access, and how its memory grows. */
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
  // isolated-vm checks which C library the system has.
  '/etc/alpine-release',
];

/** The child has an empty environment. Node.js's permission model denies it all files but its own code, child processes and the
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

/** Makes Linux's out-of-memory killer choose this process before its parent. */
export function preferForOutOfMemoryKill(pid: number | undefined) {
  try {
    if (pid !== undefined) writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {}
}
