/** Starts and stops the processes of a benchmark. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

export interface BenchProcess {
  child: ChildProcess;
  pid: number;
  url: string;
  /** Sends a message and resolves with the next message from the process. */
  ask<T>(message: unknown): Promise<T>;
  /** @param signal default: SIGTERM */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ProcessOptions {
  env?: Record<string, string>;
  execArgv?: string[];
  /** Called when the process exits without being stopped. */
  onLost(error: Error): void;
}

/** Starts a script, or a process of the service as deployed (`web`, `worker`), and waits until it is ready. Its environment contains only
 *  PATH and `env`. */
export async function start(
  script: string,
  { env = {}, execArgv = [], onLost }: ProcessOptions,
): Promise<BenchProcess> {
  const { PATH } = process.env;
  // A separate session: Ctrl-C reaches only the benchmark, which then stops all processes in order.
  const options = { cwd: ROOT, env: { PATH, ...env }, detached: true };
  const child = script.endsWith('.ts')
    ? fork(join(ROOT, script), { ...options, execArgv })
    : spawn(join(ROOT, 'scripts/start'), [script], { ...options, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let stopping = false;
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  child.once('exit', (code, signal) => {
    const error = new Error(`${script} ended with ${signal ?? `exit code ${code}`}`);
    ended.reject(error);
    if (!stopping) onLost(error);
  });
  const next = async () => ((await Promise.race([once(child, 'message'), ended.promise])) as [unknown])[0];
  const { port } = (await next()) as { port?: number };
  return {
    child,
    pid: child.pid as number,
    url: `http://127.0.0.1:${port}`,
    async ask<T>(message: unknown) {
      const answer = next();
      child.send(message as object);
      return (await answer) as T;
    },
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    },
  };
}
