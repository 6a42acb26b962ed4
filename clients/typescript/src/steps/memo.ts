/** What a finished step left behind: the service hands it to every later call, and the step resolves to it. */
import { StepError } from '../errors.ts';
import type { ErrorOnTheWire } from '../wire-error.ts';
import type { FoundStep } from './found.ts';

/** `{ data }` or `{ error }`; a sleep's is null, a wait's the whole event or null. */
export type Memo = Record<string, unknown> | null;

/** Memos by hashed step ID. */
export type Memos = Readonly<Record<string, Memo>>;

export type Settled = { error: ErrorOnTheWire } | { data: unknown };

/** How the step ended, by its memo. An event has `data` too, and may have an `error`: its name tells it apart. */
export function readMemo(memo: Memo, kind: FoundStep['kind']): Settled {
  if (memo?.error && !('name' in memo)) return { error: memo.error as ErrorOnTheWire };
  if (kind === 'sleep') return { data: undefined };
  return { data: kind === 'wait' ? memo : (memo?.data ?? null) };
}

/** Lets the code that awaits the step go on. */
export function deliver(step: FoundStep, memo: Memo): void {
  const settled = readMemo(memo, step.kind);
  if ('error' in settled) step.reject(new StepError(step.displayName, settled.error));
  else step.resolve(settled.data);
}
