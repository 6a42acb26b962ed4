/** Memos: results of finished steps. The service includes them in every later call, and the steps resolve to them. */
import { StepError } from '../errors.ts';
import type { ErrorOnTheWire } from '../wire-error.ts';
import type { FoundStep } from './found.ts';
import type { FetchResponse } from './types.ts';

/** `{ data }` or `{ error }`; null for a sleep; the event or null for a wait. */
export type Memo = Record<string, unknown> | null;

/** Memos by hashed step ID. */
export type Memos = Readonly<Record<string, Memo>>;

export type Settled = { error: ErrorOnTheWire } | { data: unknown };

/** Result of the step. The memo of a wait is an event, recognized by its name: it also has `data` and can have `error`. */
export function readMemo(memo: Memo, kind: FoundStep['kind']): Settled {
  if (memo?.error && !('name' in memo)) return { error: memo.error as ErrorOnTheWire };
  if (kind === 'sleep') return { data: undefined };
  if (kind === 'wait') return { data: memo };
  return { data: kind === 'fetch' ? responseOf(memo?.data) : (memo?.data ?? null) };
}

function responseOf(data: unknown): FetchResponse {
  const { status_code: status = 0, headers = {}, body = null, url = '' } = (data ?? {}) as Record<string, never>;
  return { status, headers, body, url };
}

/** Continues the code that awaits the step. */
export function deliver(step: FoundStep, memo: Memo): void {
  const settled = readMemo(memo, step.kind);
  if ('error' in settled) step.reject(new StepError(step.displayName, settled.error));
  else step.resolve(settled.data);
}
