/** A real process of the service in a test. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

export type Role = 'web' | 'worker';

export interface ServiceProcess {
  role: Role;
  pid: number;
  /** Where a web process listens. */
  port: number | undefined;
  /** Port of `GET /metrics`, if METRICS_PORT is set. */
  metricsPort: number | undefined;
  /** Its output so far. */
  output(): string;
  /** Whether it, or its output, goes on. */
  running(): boolean;
  /** Sends SIGKILL. Resolves when the process has exited. */
  kill(): Promise<void>;
  /** Sends SIGTERM. @throws if it does not exit in time, exits with a code other than 0, or had exited before */
  stop(): Promise<void>;
}

const ROOT = resolve(import.meta.dirname, '../..');
const END_MS = 30_000;
/** Where scripts/test has found bundles of what src/ is now: a process of them starts with half of the CPU time. */
const BUNDLES = process.env.TEST_BUNDLES;

/** Resolves when the process is ready. @throws with its output if it exits first */
export async function startProcess(
  role: Role,
  env: NodeJS.ProcessEnv,
  execArgv: string[] = [],
): Promise<ServiceProcess> {
  // As scripts/start does.
  const isGroup = (env[`${role.toUpperCase()}_CONCURRENCY`] || '1') !== '1';
  // What is preloaded changes modules, which a bundle does not have.
  const [folder, extension] = BUNDLES && execArgv.length === 0 ? [BUNDLES, 'js'] : ['src', 'ts'];
  const entry = resolve(ROOT, folder, `${isGroup ? 'supervisor' : role}.${extension}`);
  const child = fork(entry, isGroup ? [role] : [], {
    cwd: ROOT,
    env,
    execArgv,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = collectOutput(child);
  const exited = once(child, 'exit');
  // Only then is its output complete.
  let isClosed = false;
  const closed = once(child, 'close').then(() => {
    isClosed = true;
  });
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const ending = () => child.signalCode ?? `exit code ${child.exitCode}`;
  const failure = (what: string) => new Error(`${role} ${child.pid} ${what}. Its output:\n${output() || '(none)'}`);

  const first = await Promise.race([once(child, 'message'), closed.then(() => undefined)]);
  if (!first) throw failure(`ended before it was ready (${ending()})`);
  let killed = false;
  return {
    role,
    pid: child.pid as number,
    port: (first[0] as { port?: number }).port,
    metricsPort: (first[0] as { metricsPort?: number }).metricsPort,
    output,
    running: () => !isClosed,
    async kill() {
      killed = true;
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      if (killed) return;
      if (hasExited()) throw failure(`had already exited (${ending()})`);
      const straggler = setTimeout(() => child.kill('SIGKILL'), END_MS);
      child.kill('SIGTERM');
      await closed;
      clearTimeout(straggler);
      if (child.exitCode !== 0) throw failure(`did not end in order within ${END_MS} ms of SIGTERM (${ending()})`);
    },
  };
}

function collectOutput(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return () => output.trim();
}
