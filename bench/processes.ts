/** The processes of a benchmark. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..');

export interface Part {
  child: ChildProcess;
  url: string;
  stop(): Promise<void>;
}

/** Starts a script and waits until it is ready. */
export async function start(script: string, env: Record<string, string> = {}): Promise<Part> {
  const { PATH } = process.env;
  const child = fork(join(ROOT, script), { cwd: ROOT, env: { PATH, ...env }, execArgv: [] });
  const [{ port }] = (await once(child, 'message')) as [{ port?: number }];
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Requests a second that wrk reached. @throws when any answer was not a success */
export async function wrk(url: string, script: string, connections: number, seconds: number): Promise<number> {
  const args = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '-s', join(ROOT, 'bench/wrk', script), url];
  const { stdout } = await promisify(execFile)('wrk', args);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk met errors:\n${stdout}`);
  return Number(/Requests\/sec:\s*([\d.]+)/.exec(stdout)?.[1]);
}

export function median(values: number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] as number;
}
