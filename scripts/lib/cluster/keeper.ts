/** A process between a script and the nodes of its Redis Cluster: starts nodes on request, reports their ends, and stops all of them on SIGTERM or
 *  when the script has exited. */
import { type ChildProcess, spawn } from 'node:child_process';

/** Starts a node. */
export interface Order {
  node: number;
  file: string;
  argv0: string;
  args: string[];
}

/** A node has started, or has ended. */
export type Report = { node: number; pid: number } | { node: number; ended: string; output: string };

/** Time for a node to save. Earlier writes are in its append-only file anyway. */
const SAVE_MS = 5_000;
const KEPT_CHARACTERS = 4_000;

const running = new Set<ChildProcess>();
let isEnding = false;

process.on('message', start);
process.on('SIGTERM', end);
process.on('disconnect', end);

function start({ node, file, argv0, args }: Order): void {
  const child = spawn(file, args, { argv0, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-KEPT_CHARACTERS);
    });
  }
  child.on('error', ({ message }) => report({ node, ended: message, output: '' }));
  child.on('close', (code, signal) => {
    running.delete(child);
    report({ node, ended: signal ?? `exit code ${code}`, output: output.trim() });
    if (isEnding && running.size === 0) process.exit(0);
  });
  if (child.pid) report({ node, pid: child.pid });
}

function end(): void {
  if (isEnding) return;
  isEnding = true;
  if (running.size === 0) process.exit(0);
  for (const child of running) {
    // A stopped process would not notice.
    child.kill('SIGCONT');
    child.kill('SIGTERM');
  }
  // A hanging disk must not keep a node running forever.
  setTimeout(() => {
    for (const child of running) child.kill('SIGKILL');
  }, SAVE_MS).unref();
}

function report(message: Report): void {
  // The script may have exited.
  if (process.connected) process.send?.(message, () => {});
}
