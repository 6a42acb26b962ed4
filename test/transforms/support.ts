import { execFileSync } from 'node:child_process';
import { pino } from 'pino';
import { ServiceError } from '../../src/errors.ts';
import {
  createTransforms,
  type Transform,
  type TransformRequest,
  type Transforms,
  type TransformsOptions,
} from '../../src/transforms/transforms.ts';

export const REQUEST: TransformRequest = { body: {}, headers: {}, query: {}, raw: '' };

/** For tests that wait for a time-out; long enough that a busy machine does not stop the innocent. */
export const QUICK = { timeoutMs: 300, graceMs: 200 };

export interface LogLine {
  level: number;
  msg: string;
  webhook?: string;
  [fact: string]: unknown;
}

let count = 0;

/** A webhook of its own, so that no test inherits another's record. */
export function webhook(code: string, id = `webhook-${++count}`): Transform {
  return { id, version: '1', code };
}

export function edited(transform: Transform, code: string): Transform {
  return { ...transform, version: `${transform.version}+`, code };
}

/** A webhook whose function has this body. */
export function returning(body: string): Transform {
  return webhook(`function transform(evt, headers, queryParams, raw) {\n  ${body}\n}`);
}

export function start(options: Partial<TransformsOptions> = {}) {
  const lines: LogLine[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  return { transforms: createTransforms({ timeoutMs: 1_000, threads: 2, log, ...options }), lines };
}

/** Starts the service, lets `use` work with it, and ends it in any case. */
export async function withTransforms<T>(
  options: Partial<TransformsOptions>,
  use: (transforms: Transforms, lines: LogLine[]) => Promise<T>,
): Promise<T> {
  const { transforms, lines } = start(options);
  try {
    return await use(transforms, lines);
  } finally {
    await transforms.close();
  }
}

/** The ServiceError that `promise` is rejected with. */
export async function refusal(promise: Promise<unknown>): Promise<ServiceError> {
  const error = await promise.then(
    (value) => new Error(`expected a refusal, got ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof ServiceError) return error;
  throw error;
}

export function childrenOf(pid: number | undefined): number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

/** A process that has ended but that nobody has taken note of (Z) counts as gone. */
export function lives(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .startsWith('Z');
  } catch {
    return false;
  }
}

/** For what only other processes can tell; mocha's own time-out ends it. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}
