import { pino } from 'pino';
import { listProcesses } from '../../scripts/lib/processes.ts';
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
export const QUICK = { timeoutMs: 250, graceMs: 150 };

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

/** One service for all tests of a `describe`. */
export function shared(options: Partial<TransformsOptions> = {}) {
  let service: ReturnType<typeof start>;
  before(() => {
    service = start(options);
  });
  after(() => service.transforms.close());
  return {
    run: (transform: Transform, request: TransformRequest = REQUEST) => service.transforms.run(transform, request),
    check: (code: string) => service.transforms.check(code),
    lines: () => service.lines,
  };
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

/** The children for transforms of this process, or of another. */
export function transformChildren(parent = process.pid): number[] {
  return listProcesses()
    .filter((process) => process.parent === parent && process.command.includes('src/transforms/sandbox/child.ts'))
    .map(({ pid }) => pid);
}

export function anyLives(pids: number[]): boolean {
  return listProcesses().some(({ pid }) => pids.includes(pid));
}
