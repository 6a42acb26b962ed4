/** Step IDs as parts of keys and job IDs, where separators have a meaning and short IDs are other things. */
import { hash } from 'node:crypto';

const HASHED = /^[0-9a-f]{40}$/;

/** The ID itself, if it is a hash, as SDKs send it; of any other text, `x` and a hash. */
export function stepKey(stepId: string): string {
  return HASHED.test(stepId) ? stepId : `x${hash('sha1', stepId)}`;
}
