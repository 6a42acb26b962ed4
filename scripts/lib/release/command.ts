/** Runs the programs that build a release. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Problem } from '../problem.ts';

export interface CommandOptions {
  cwd: string;
  env?: Record<string, string>;
}

/** @returns what it prints. @throws Problem with its errors if it fails */
export async function command(file: string, args: string[], { cwd, env }: CommandOptions): Promise<string> {
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  }
  const [code] = await once(child, 'close').catch((error: Error) => {
    throw new Problem(`Cannot run ${file}: ${error.message}`);
  });
  if (code !== 0) {
    throw new Problem(
      `${[file, ...args].join(' ')} ended with ${code}:\n${output.stderr.trim() || output.stdout.trim()}`,
    );
  }
  return output.stdout;
}
