/** What an app answers a call with while its function is under way (docs/protocol.md#operations). */
import type { ErrorOnTheWire } from '../wire-error.ts';

export type OpCode =
  | 'StepRun'
  | 'StepPlanned'
  | 'StepError'
  | 'StepFailed'
  | 'Sleep'
  | 'WaitForEvent'
  | 'InvokeFunction'
  | 'StepNotFound';

export interface Op {
  /** SHA-1 of the step's ID. */
  id: string;
  op: OpCode;
  name: string;
  displayName: string;
  opts?: Record<string, unknown>;
  data?: unknown;
  error?: ErrorOnTheWire;
}
