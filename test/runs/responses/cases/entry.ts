/** The fields of a hostile response. */
import { createHash } from 'node:crypto';
import type { Call, HostResponse } from '../../../support/app-host.ts';

export interface HostileResponse {
  /** Title of the test. */
  name: string;
  /** The response to each call. */
  respond: (call: Call) => HostResponse | 'hang up';
  must: {
    status: 'Completed' | 'Failed';
    /** Name of the run's error. */
    error?: string;
    /** Part of the error's message. */
    says?: string;
    /** Number of calls: one where a retry cannot help, otherwise two, since each function has one retry. */
    calls: number;
    /** Output of a completed run, if it matters. */
    output?: unknown;
  };
}

export const failedAtOnce = (error: string, says?: string) =>
  ({ status: 'Failed', error, calls: 1, ...(says && { says }) }) as const;
export const failedAfterRetry = (error: string, says?: string) =>
  ({ status: 'Failed', error, calls: 2, ...(says && { says }) }) as const;

/** ID of a step, as an SDK makes it. */
export function step(name: string): string {
  return createHash('sha1').update(name).digest('hex');
}

export const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
export const raw = (text: string) => Buffer.from(text);
/** Returns the operations to the first call, and completes on any later one. */
export const opsOnce =
  (...ops: object[]) =>
  (call: Call): HostResponse =>
    call.number === 0 ? { status: 206, body: ops } : { body: 'went on' };
export const op = (kind: string, fields: object = {}) => ({ id: step('s'), op: kind, name: 's', ...fields });
export const many = (count: number, one: (n: number) => object) => Array.from({ length: count }, (_, n) => one(n));
/** The bytes of a whole response. */
export const wire = (...lines: string[]) => ({ wire: raw(lines.join('\r\n')) });
