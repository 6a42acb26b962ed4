import { pino } from 'pino';
import { listProcesses } from '../../scripts/lib/processes.ts';
import { ServiceError } from '../../src/errors.ts';
import {
  createTransforms,
  type Transform,
  type TransformOutcome,
  type TransformRequest,
  type Transforms,
  type TransformsOptions,
} from '../../src/transforms/transforms.ts';

export const REQUEST: TransformRequest = { body: {}, headers: {}, query: {}, raw: '' };

/** For tests that wait for a timeout; long enough that a busy machine does not stop harmless transforms. */
export const QUICK = { timeoutMs: 250, graceMs: 150 };

export interface LogLine {
  level: number;
  msg: string;
  webhook?: string;
  [fact: string]: unknown;
}

let count = 0;

/** A new webhook, so that no test inherits the strikes of another. */
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
  const transforms = createTransforms({ timeoutMs: 1_000, threads: 2, log, ...options });
  // As the web process does when there is a webhook.
  transforms.start();
  return { transforms, lines };
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

/** Starts the service, passes it to `use`, and always closes it. */
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

/** The fields of what a transform returned. */
export function fieldsOf({ returned }: Pick<TransformOutcome, 'returned'>): Record<string, unknown> {
  return returned as Record<string, unknown>;
}

/** The ServiceError that `promise` is rejected with. */
export async function errorOf(promise: Promise<unknown>): Promise<ServiceError> {
  const error = await promise.then(
    (value) => new Error(`x, got ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof ServiceError) return error;
  throw error;
}

/** PIDs of the transform processes of a parent. */
export function transformChildren(parent = process.pid): number[] {
  return listProcesses()
    .filter((process) => process.parent === parent && /transforms\/(sandbox\/)?child\.[jt]s/.test(process.command))
    .map(({ pid }) => pid);
}

export function anyAlive(pids: number[]): boolean {
  return listProcesses().some(({ pid }) => pids.includes(pid));
}
