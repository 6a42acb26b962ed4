/** The ID of a call over a connection. It is derived: when the worker that waits for the reply dies, or is restarted, the job is repeated, and the
 *  next worker waits for the same reply instead of calling the function a second time. */
import { derivedId } from '../../model/ids.ts';

export interface CallIdentity {
  runId: string;
  at?: number | undefined;
  stepId?: string | undefined;
  /** Attempts of the job before this one. */
  attempt: number;
}

export function callIdOf({ runId, at = 0, stepId, attempt }: CallIdentity): string {
  return derivedId(runId, 'call', stepId ?? String(at), String(attempt));
}
