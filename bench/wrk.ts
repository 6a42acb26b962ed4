/** Runs wrk, which sends as fast as its connections are answered (closed loop). */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Problem } from '../scripts/lib/problem.ts';
import { installPackage } from '../scripts/lib/system-package.ts';

const PACKAGE = { name: 'wrk', debian: 'wrk', brew: ['wrk'] };
const SCRIPT = join(import.meta.dirname, 'wrk/post.lua');

export interface Load {
  url: string;
  /** Path of a file. */
  body: string;
  connections: number;
  /** The body's signature, for the header x-signature. */
  signature?: string | undefined;
}

export interface LoadResult {
  requests: number;
  perSecond: number;
}

/** @throws Problem when wrk is not there and cannot be installed */
export function ensureWrk(): void {
  if (isInstalled() || (installPackage(PACKAGE) && isInstalled())) return;
  throw new Problem(`scripts/bench needs wrk, and could not install it.
Install it with 'apt-get install wrk' or 'brew install wrk'.`);
}

function isInstalled(): boolean {
  return spawnSync('wrk', ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** @throws Error when a response is not a 2xx */
export async function wrk(
  { url, body, connections, signature }: Load,
  seconds: number,
  signal: AbortSignal,
): Promise<LoadResult> {
  const args = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '-s', SCRIPT, url, '--', body];
  if (signature !== undefined) args.push(signature);
  const { stdout } = await promisify(execFile)('wrk', args, { signal });
  return parseOutput(stdout);
}

/** Parses the output of wrk. */
export function parseOutput(output: string): LoadResult {
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`wrk reported errors:\n${output}`);
  const requests = Number(/(\d+) requests in/.exec(output)?.[1]);
  const perSecond = Number(/Requests\/sec:\s*([\d.]+)/.exec(output)?.[1]);
  if (!(requests > 0 && perSecond > 0)) throw new Error(`wrk sent no requests:\n${output}`);
  return { requests, perSecond };
}
