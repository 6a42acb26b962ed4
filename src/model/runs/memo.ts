/** Memos: stored results of finished steps, with which an SDK replays a function (docs/protocol.md#memos), and their limits. */
import type { RunError } from './run-error.ts';

/** The memo of a sleep is null; of a wait, the event, or null after its timeout. */
export type Memo = { data: unknown } | { error: RunError } | Record<string, unknown> | null;

/** Finished and pending steps of a run. */
export const MAX_STEPS = 1_000;
export const MAX_STEP_BYTES = 4 * 1_024 * 1_024;
/** An app's answer to a call, and a checkpoint: two of the largest steps, and what is around them. */
export const MAX_ANSWER_BYTES = 2 * MAX_STEP_BYTES + 65_536;
export const MAX_STATE_BYTES = 32 * 1_024 * 1_024;

/** A larger call body omits events and memos; the app fetches them (`use_api`, docs/protocol.md#large-calls). */
export const MAX_CALL_BYTES = 4 * 1_024 * 1_024;

/** A step that is not finished: planned, sleeping, waiting, invoking another run, or making a request. */
export interface Pending {
  op: 'StepPlanned' | 'Sleep' | 'WaitForEvent' | 'WaitForSignal' | 'InvokeFunction' | 'Gateway' | 'AIGateway';
  /** The step's name. */
  name: string;
  /** Name of the event or signal that it waits for, where it is not the step's name. */
  waitsFor?: string;
  /** The `if` of a wait for an event, or its beginning. */
  expression?: string;
  /** ID of the function that it invokes. */
  invokes?: string;
  /** Unix milliseconds. */
  since: number;
  /** When it ends at the latest, Unix milliseconds; undefined: no timeout. */
  until?: number;
  /** What it waits for cannot end it yet: the wait is being stored. */
  beginning?: true;
  /** Race mode: the function is called again when this step ends, also while others are pending. */
  race?: true;
  /** Origin of the URL that the step requests. */
  origin?: string;
  /** Method of that request. */
  method?: string;
  /** Steps that one response planned together have the same: the number of steps that were finished by then. */
  group?: number;
}

/** Name of the event or signal that the step waits for; undefined: it waits for neither. */
export function awaitedBy({ op, name, waitsFor = name }: { op: string; name: string; waitsFor?: string | undefined }) {
  return op === 'WaitForEvent' || op === 'WaitForSignal' ? waitsFor : undefined;
}

/** People see this much of a wait's expression; the wait itself has all of it. A list reads many pending steps. */
const EXPRESSION_SHOWN = 500;

export function shownExpression(expression: string): string {
  return expression.length <= EXPRESSION_SHOWN ? expression : `${expression.slice(0, EXPRESSION_SHOWN)}…`;
}

/** Whether it is all of an expression. */
export function isWhole(shown: string): boolean {
  return shown.length <= EXPRESSION_SHOWN;
}

/** Whether the step ends with the response to a request that the service makes. */
export function requestsOutside({ op }: Pick<Pending, 'op'>): boolean {
  return op === 'Gateway' || op === 'AIGateway';
}
