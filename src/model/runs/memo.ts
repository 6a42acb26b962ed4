/** Memos: stored results of finished steps, with which an SDK continues a function (docs/protocol.md#memos), and their limits. */
import type { RunError } from './run-error.ts';

/** The memo of a sleep is null; of a wait, the event, or null after its timeout. */
export type Memo = { data: unknown } | { error: RunError } | Record<string, unknown> | null;

/** Finished and pending steps of a run. */
export const MAX_STEPS = 1_000;
export const MAX_STEP_BYTES = 4 * 1_024 * 1_024;
/** Maximum size of an app's response to a call, or of a checkpoint: two of the largest steps, plus their envelope. */
export const MAX_RESPONSE_BYTES = 2 * MAX_STEP_BYTES + 65_536;
export const MAX_STATE_BYTES = 32 * 1_024 * 1_024;

/** What the steps of a run exceed: MAX_STEPS or MAX_STATE_BYTES. */
export type StateLimit = 'steps' | 'bytes';

/** A larger call body omits events and memos; the app fetches them (`use_api`, docs/protocol.md#large-calls). */
export const MAX_CALL_BYTES = 4 * 1_024 * 1_024;
/** When a call omits memos, the service still reads memos up to this size: most errors of steps are shorter. */
export const SHORT_MEMO_BYTES = 4_096;

/** An unfinished step: planned, sleeping, waiting, invoking another run, or making a request. */
export interface Pending {
  op: 'StepPlanned' | 'Sleep' | 'WaitForEvent' | 'WaitForSignal' | 'InvokeFunction' | 'Gateway' | 'AIGateway';
  /** The step's name. */
  name: string;
  /** Name of the awaited event or signal, if it differs from the step's name. */
  waitsFor?: string;
  /** The `if` of a wait for an event, possibly truncated. */
  expression?: string;
  /** ID of the invoked function. */
  invokes?: string;
  /** Unix milliseconds. */
  since: number;
  /** Latest possible end, Unix milliseconds; undefined: no timeout. */
  until?: number;
  /** The wait is still being stored and cannot end yet. */
  beginning?: true;
  /** Race mode: the end of this step triggers the next call even if others are pending. */
  race?: true;
  /** Origin of the URL that the step requests. */
  origin?: string;
  /** Method of that request. */
  method?: string;
  /** The number of finished steps when the step was planned; steps that one response planned together share it. */
  group?: number;
}

/** Name of the awaited event or signal; undefined for steps that await neither. */
export function awaitedBy({ op, name, waitsFor = name }: { op: string; name: string; waitsFor?: string | undefined }) {
  return op === 'WaitForEvent' || op === 'WaitForSignal' ? waitsFor : undefined;
}

/** Maximum length of a wait's expression in lists, which read many pending steps. The wait itself stores all of it. */
const EXPRESSION_SHOWN = 500;

export function shownExpression(expression: string): string {
  return expression.length <= EXPRESSION_SHOWN ? expression : `${expression.slice(0, EXPRESSION_SHOWN)}…`;
}

/** Whether the text is a complete expression. */
export function isWhole(shown: string): boolean {
  return shown.length <= EXPRESSION_SHOWN;
}

/** Whether the step makes a request to a third party. */
export function requestsOutside({ op }: Pick<Pending, 'op'>): boolean {
  return op === 'Gateway' || op === 'AIGateway';
}
