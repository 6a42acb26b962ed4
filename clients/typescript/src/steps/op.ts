/** Step operations in the response to a call (docs/protocol.md#operations). */
import type { ErrorOnTheWire } from '../wire-error.ts';

export type OpCode =
  | 'StepRun'
  | 'StepPlanned'
  | 'StepError'
  | 'StepFailed'
  | 'Sleep'
  | 'WaitForEvent'
  | 'WaitForSignal'
  | 'InvokeFunction'
  | 'Gateway'
  | 'AIGateway'
  | 'StepNotFound'
  | 'RunComplete'
  | 'RunError';

export interface Op {
  /** SHA-1 of the step ID. */
  id: string;
  op: OpCode;
  name: string;
  displayName: string;
  opts?: Record<string, unknown>;
  data?: unknown;
  error?: ErrorOnTheWire;
  /** When it ran: its start since 1970, and its duration, in nanoseconds. */
  timing?: { a: number; b: number };
}
